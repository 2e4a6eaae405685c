use super::*;

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
