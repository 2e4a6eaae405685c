use super::*;

#[test]
fn default_routes_are_found_in_both_tables() {
    let v4 = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
              wwan0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
              eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
    assert_eq!(default_routes_4(v4), ["wwan0"]);
    let zero = "00000000000000000000000000000000";
    let v6 = format!(
        "{zero} 00 {zero} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 wwan0\n\
         {zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200 lo\n\
         fe800000000000000000000000000000 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001 eth0\n"
    );
    assert_eq!(default_routes_6(&v6), ["wwan0"]);
}

#[test]
fn an_interface_that_does_not_exist_is_named() {
    let error = Interface::find("nosuch0").unwrap_err().to_string();
    assert!(error.contains("nosuch0"), "{error}");
    assert!(Interface::find("a-name-longer-than-the-kernel-allows").is_err());
}

#[test]
fn loopback_is_ethernet() {
    assert_eq!(
        Interface::find("lo").unwrap().link_layer,
        LinkLayer::Ethernet
    );
}
