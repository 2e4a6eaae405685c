//! OpenWrt's init script, in shells like a router's, with the parts of procd and UCI that it uses
//! (`packaging/openwrt/test/router.sh`). The configuration that it writes is checked by the command.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tidegate_testing::has_program;
use toml::Table;

const MAIN: &str = "config tidegate 'main'\n\toption enabled '1'\n";

/// The router's shell is BusyBox; Debian's `sh` is as strict.
const SHELLS: [&[&str]; 2] = [&["busybox", "sh"], &["sh"]];

/// A router with a configuration.
struct Router {
    folder: TempDir,
    shell: &'static [&'static str],
    devices: &'static str,
    running: bool,
}

impl Router {
    fn new(shell: &'static [&'static str], configuration: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("config"), configuration).unwrap();
        Self {
            folder,
            shell,
            devices: "wan eth1\nlan br-lan",
            running: false,
        }
    }

    /// The calls to procd that the action makes.
    fn does(&self, action: &str) -> Vec<String> {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/openwrt/test/router.sh");
        let output = Command::new(self.shell[0])
            .args(&self.shell[1..])
            .arg(script)
            .args([
                self.folder.path().join("config"),
                self.folder.path().join("run"),
            ])
            .arg(action)
            .env("DEVICES", self.devices)
            .env("RUNNING", if self.running { "1" } else { "0" })
            .output()
            .unwrap();
        let complaints = String::from_utf8(output.stderr).unwrap();
        assert_eq!(complaints, "");
        let calls = String::from_utf8(output.stdout).unwrap();
        calls.lines().map(str::to_owned).collect()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("run/tidegate.toml")
    }

    fn table(&self) -> Table {
        fs::read_to_string(self.file()).unwrap().parse().unwrap()
    }

    /// Checks the file with the command; its error if it is refused.
    fn judged(&self) -> Result<(), String> {
        let check = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["check", "--json", "--config"])
            .arg(self.file())
            .output()
            .unwrap();
        let found: Value = serde_json::from_slice(&check.stdout).unwrap();
        if !found["use"].is_null() {
            return Ok(());
        }
        let mut findings = found["findings"].as_array().unwrap().iter();
        let of_file = findings.find(|finding| finding["name"] == "configuration");
        Err(of_file.unwrap()["found"].as_str().unwrap().to_owned())
    }
}

fn on_each_shell(test: impl Fn(&'static [&'static str])) {
    for shell in SHELLS {
        if has_program(shell[0], "busybox-static") {
            test(shell);
        }
    }
}

#[test]
fn every_option_becomes_the_agents() {
    let configuration = format!(
        "{MAIN}
        list network 'wan'
        list device 'ppp0'
        option law 'tide'
        option only 'downloads'
        option fair 'device'
        option leases '/tmp/dhcp.leases'
        option connections '2048'
        option udp 'leave'
        option udp_hold 'both'
        option udp_echo '192.0.2.1'
        option stampless '1'
        option pin 'off'
        option compare '0.05'
        option metrics '127.0.0.1:9464'
        option page '192.168.1.1:9750'
        config rule
        list remote_port '22'
        list remote_port '8000-8100'
        list local_port '5001'
        list prefix '192.0.2.0/24'
        option action 'deny'
        config rule 'heavy'
        option interface 'ppp0'
        option uid '1000'
        option action 'allow'
        option weight '4'
        config udp_rule
        list remote_port '3478-3481'
        option direction 'uploads'
        option action 'leave'
        config device
        option mac '02:00:00:00:00:01'
        option weight '2'"
    );
    let expected: Table = r#"
        interfaces = ["eth1", "ppp0"]
        law = "tide"
        only = "downloads"
        fair = "device"
        leases = "/tmp/dhcp.leases"
        connections = 2048
        udp = "leave"
        udp_hold = "both"
        udp_echo = "192.0.2.1"
        metrics = "127.0.0.1:9464"
        page = "192.168.1.1:9750"
        compare = 0.05
        stampless = true
        pin = false
        [[rule]]
        remote_port = ["22", "8000-8100"]
        local_port = ["5001"]
        prefix = ["192.0.2.0/24"]
        action = "deny"
        [[rule]]
        interface = "ppp0"
        action = "allow"
        uid = 1000
        weight = 4
        [[udp_rule]]
        remote_port = ["3478-3481"]
        direction = "uploads"
        action = "leave"
        [[device]]
        mac = "02:00:00:00:00:01"
        weight = 2
    "#
    .parse()
    .unwrap();
    on_each_shell(|shell| {
        let router = Router::new(shell, &configuration);
        let calls = router.does("start");
        assert_eq!(router.table(), expected);
        assert_eq!(router.judged(), Ok(()));
        let command = format!(
            "set_param command /usr/sbin/tidegate run --config {}",
            router.file().display()
        );
        assert!(calls.contains(&command), "{calls:?}");
        assert!(calls.contains(&"set_param respawn 3600 5 5".into()));
        // Otherwise `logread` would show only warnings.
        assert!(calls.contains(&"set_param stdout 1".into()));
        assert!(calls.contains(&"set_param stderr 1".into()));
        assert!(calls.contains(&"add_reload_trigger tidegate".into()));
        assert!(calls.contains(&"add_reload_interface_trigger wan".into()));
    });
}

#[test]
fn what_makes_no_sense_is_refused_by_the_agent() {
    on_each_shell(|shell| {
        let law = "option law 'a \"quoted\\\\law'\n";
        let router = Router::new(shell, &format!("{MAIN}{law}"));
        router.does("start");
        assert_eq!(
            router.table()["law"].as_str(),
            Some(r#"a "quoted\\law"#),
            "not as it was written"
        );
        let complaint = router.judged().unwrap_err();
        assert!(complaint.contains("tidegate.toml:1"), "{complaint}");
    });
}

#[test]
fn nothing_starts_unless_it_is_enabled() {
    on_each_shell(|shell| {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../packaging/openwrt/files/tidegate.config");
        let router = Router::new(shell, &fs::read_to_string(shipped).unwrap());
        assert_eq!(router.does("start"), ["add_reload_trigger tidegate"]);
        assert!(!router.file().exists());
    });
}

#[test]
fn who_names_no_network_has_the_default_routes() {
    on_each_shell(|shell| {
        let router = Router::new(shell, MAIN);
        let calls = router.does("start");
        assert!(
            calls.contains(&"open_instance".into()) || calls.contains(&"open_instance ".into())
        );
        assert_eq!(router.table(), Table::new());
        assert_eq!(router.judged(), Ok(()));
    });
}

/// Otherwise it would steer the default routes' interfaces, which the user has not named.
#[test]
fn it_waits_for_a_network_that_is_down() {
    on_each_shell(|shell| {
        let mut router = Router::new(shell, &format!("{MAIN}list network 'wwan'\n"));
        let triggers = [
            "add_reload_trigger tidegate",
            "add_reload_interface_trigger wwan",
        ];
        assert_eq!(router.does("start"), triggers);
        router.devices = "wwan wwan0";
        let calls = router.does("reload");
        assert_eq!(calls[0], "stop");
        assert_eq!(router.table()["interfaces"][0].as_str(), Some("wwan0"));
        assert_eq!(router.judged(), Ok(()));
    });
}

/// A network came back on another device, or rules changed: the agent keeps what it has learnt.
#[test]
fn a_reload_has_the_file_read_again() {
    on_each_shell(|shell| {
        let mut router = Router::new(shell, &format!("{MAIN}list network 'wan'\n"));
        router.does("start");
        router.running = true;
        router.devices = "wan eth7";
        assert_eq!(router.does("reload"), ["send_signal tidegate * HUP"]);
        assert_eq!(router.table()["interfaces"][0].as_str(), Some("eth7"));
        // The network goes down for good: there is nothing left to steer.
        router.devices = "";
        assert_eq!(router.does("reload")[0], "stop");
    });
}

fn read(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(file)).unwrap()
}

/// Packages of kernel modules in the text.
fn modules(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with("kmod-")).collect()
}

/// The package depends on all modules that the documents name, except those for `--udp hold` only.
#[test]
fn the_package_brings_the_modules_that_the_documents_name() {
    let makefile = read("packaging/openwrt/Makefile");
    let depends = makefile
        .lines()
        .find_map(|line| line.trim().strip_prefix("DEPENDS:="));
    let brought = modules(depends.unwrap());
    // For clsact and its filter before Linux 6.6, and for connections behind NAT.
    let needed = [
        "kmod-nf-conntrack-netlink",
        "kmod-sched-bpf",
        "kmod-sched-core",
    ];
    assert_eq!(brought, BTreeSet::from(needed));
    let optional = &modules(&makefile) - &brought;
    assert_eq!(optional, BTreeSet::from(["kmod-nft-queue"]));
    for page in ["docs/openwrt.md", "docs/router.md", "docs/udp.md"] {
        let text = read(page);
        let unknown = &(&modules(&text) - &brought) - &optional;
        assert!(unknown.is_empty(), "{page}: {unknown:?}");
    }
}
