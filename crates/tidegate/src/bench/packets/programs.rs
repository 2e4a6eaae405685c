//! Kernel programs of a build, loaded but not attached.

use super::traffic::{Packet, Way};
use anyhow::{Context, Result, bail, ensure};
use libbpf_rs::{Map, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject};
use object::{Object as _, ObjectSection, ObjectSymbol};
use std::io::Error;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;
use tidegate_agent::hold::types::tg_held;
use tidegate_agent::skeleton::types::{tg_record, tg_upload_record};
use tidegate_agent::{Direction, Lease, Records};
use tidegate_laws::{Law, Params};

/// The section of a `tidegate` program that contains them.
const SECTION: &str = ".bpf.objs";

/// `TC_ACT_UNSPEC`: the packet goes on to the next program.
const PASSES: u32 = u32::MAX;

/// Test packets seem to come from the loopback device, the first of its namespace.
const LO: u32 = 1;

/// How often the idle program runs beside each block.
const IDLE_RUNS: u32 = 200;

/// Variables that only one object has: the agent's programs, and the hold's.
const OF_AGENT: &str = "serves";
const OF_HOLD: &str = "echo_secret";

/// A compiled object.
pub struct Build(Vec<u8>);

impl Build {
    /// The agent's programs from the program at `path`, which may also be the object itself.
    pub fn read(path: &Path) -> Result<Self> {
        Self::with(path, OF_AGENT)
    }

    /// The hold's programs for downloads.
    pub fn read_hold(path: &Path) -> Result<Self> {
        Self::with(path, OF_HOLD)
    }

    /// The object that has this variable and is not the hold's for uploads.
    fn with(path: &Path, variable: &str) -> Result<Self> {
        let name = || format!("no kernel programs in {}", path.display());
        let file = std::fs::read(path).with_context(name)?;
        let elf = object::File::parse(&*file).with_context(name)?;
        let objects = match elf.section_by_name(SECTION) {
            Some(section) => section.data()?,
            None => &*file,
        };
        // The objects are concatenated.
        let begins = objects
            .windows(object::elf::ELFMAG.len())
            .enumerate()
            .filter(|(_, four)| *four == object::elf::ELFMAG);
        let has = |at: &usize| {
            let elf = object::File::parse(&objects[*at..]);
            let has = |name| {
                elf.as_ref()
                    .is_ok_and(|elf| elf.symbol_by_name(name).is_some())
            };
            has(variable) && !(has(OF_HOLD) && has("uplinks"))
        };
        let at = begins.map(|(at, _)| at).find(has).with_context(name)?;
        Ok(Self(objects[at..].to_vec()))
    }

    /// Loads the hold's programs.
    pub fn load_hold(&self) -> Result<Programs> {
        libbpf_rs::set_print(None);
        let mut open = ObjectBuilder::default().open_memory(&self.0)?;
        self.set(&mut open, "injected_clock", &[1])?;
        Programs::new(open.load()?, &["paths"], self.clock()?)
    }

    /// Loads the programs that steer data in that direction, by `law`.
    pub fn load(&self, direction: Direction, law: Law) -> Result<Programs> {
        self.load_for(direction, law, None)
    }

    /// The same, with tables for this many connections.
    pub fn load_for(
        &self,
        direction: Direction,
        law: Law,
        connections: Option<u32>,
    ) -> Result<Programs> {
        libbpf_rs::set_print(None);
        let mut open = ObjectBuilder::default().open_memory(&self.0)?;
        for mut map in open.maps_mut() {
            let name = map.name().to_string_lossy();
            let is_table = ["flows", "uploads", "scales"].contains(&&*name);
            if let Some(connections) = connections.filter(|_| is_table) {
                map.set_max_entries(connections)?;
            }
        }
        let served = Direction::ALL.map(|served| (served == direction).into());
        let params = Params {
            law,
            ..Params::default()
        }
        .to_sys();
        self.set(&mut open, "injected_clock", &[1])?;
        self.set(&mut open, "serves", &served)?;
        // The law's number is the first field.
        self.set(&mut open, "config", &params.law.to_ne_bytes())?;
        // Older builds may have no such variable, as they count no traffic.
        let _ = self.set(&mut open, "interfaces", &LO.to_ne_bytes());
        Programs::new(open.load()?, &["paths", "uplinks"], self.clock()?)
    }

    /// Loads the programs of the default agent for the interface of that index.
    pub fn load_on(&self, index: u32) -> Result<OnInterface> {
        libbpf_rs::set_print(None);
        let mut open = ObjectBuilder::default().open_memory(&self.0)?;
        // Older builds may have no such variable, as they count no traffic.
        let _ = self.set(&mut open, "interfaces", &index.to_ne_bytes());
        let object = open.load()?;
        begin_paths(&object, &["paths", "uplinks"], index)?;
        Ok(OnInterface { object, index })
    }

    /// Offset of the clock among the zero-initialised variables.
    fn clock(&self) -> Result<usize> {
        let elf = object::File::parse(&*self.0)?;
        let symbol = elf.symbol_by_name("injected_now_us");
        Ok(symbol.context("no clock")?.address() as usize)
    }

    /// Sets a variable before the programs are loaded.
    fn set(&self, open: &mut OpenObject, name: &str, value: &[u8]) -> Result<()> {
        let elf = object::File::parse(&*self.0)?;
        let symbol = elf
            .symbol_by_name(name)
            .with_context(|| format!("no variable {name}"))?;
        let section = symbol.section_index().context("a variable has a section")?;
        let section = elf.section_by_index(section)?.name()?;
        let at = symbol.address() as usize;
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(section) {
                let variables = map.initial_value_mut().context("variables have values")?;
                variables[at..at + value.len()].copy_from_slice(value);
                return Ok(());
            }
        }
        bail!("no map holds {name}")
    }
}

/// Loaded programs, with a path for the packets, and a clock that we set.
pub struct Programs {
    object: Object,
    /// Zero-initialised variables; only the clock is set.
    clock: MapHandle,
    clock_at: usize,
    /// Tells the hold's programs that user space is alive; others have none.
    lease: Option<MapHandle>,
    arrives: OwnedFd,
    leaves: OwnedFd,
}

impl Programs {
    fn new(object: Object, paths: &[&str], clock_at: usize) -> Result<Self> {
        begin_paths(&object, paths, LO)?;
        let program = |name: &str| program(&object, name);
        let lease = map(&object, "lease").ok();
        let lease = lease.map(|map| MapHandle::try_from(&map)).transpose()?;
        Ok(Self {
            lease,
            clock: MapHandle::try_from(&map(&object, ".bss")?)?,
            clock_at,
            arrives: program("ethernet_arrives")?,
            leaves: program("ethernet_leaves")?,
            object,
        })
    }

    /// Runs the program on a packet at the packet's time. Returns how long it took.
    pub fn pass(&self, packet: &Packet) -> Result<Duration> {
        let mut variables = vec![0; self.clock.value_size() as usize];
        variables[self.clock_at..][..8].copy_from_slice(&packet.now_us.to_ne_bytes());
        self.clock
            .update(&0_u32.to_ne_bytes(), &variables, MapFlags::ANY)?;
        if let Some(lease) = &self.lease {
            let until_us = packet.now_us + Lease::LASTS_US;
            let (key, value) = (0_u32.to_ne_bytes(), until_us.to_ne_bytes());
            lease.update(&key, &value, MapFlags::ANY)?;
        }
        let program = match packet.way {
            Way::Arrives => &self.arrives,
            Way::Leaves => &self.leaves,
        };
        test_run(program.as_fd(), &packet.bytes)
    }

    /// Makes all flows with records pass the gate. The agent's programs have no gate.
    pub fn gate_all(&self) -> Result<()> {
        let Ok(map) = map(&self.object, "held") else {
            return Ok(());
        };
        ensure!(
            map.value_size() as usize == size_of::<tg_held>(),
            "the other build's records are of another size"
        );
        let records = Records::map(map.as_fd(), true)?;
        for candidate in records.candidates() {
            records.gate(candidate.place, true, 0);
        }
        Ok(())
    }

    /// How many flows are in a group. The programs must be this build's.
    pub fn joined(&self, direction: Direction) -> Result<usize> {
        let table = match direction {
            Direction::Down => "flows",
            Direction::Up => "uploads",
        };
        let map = map(&self.object, table)?;
        let mut joined = 0;
        for key in map.keys() {
            let record = map
                .lookup(&key, MapFlags::ANY)?
                .context("nobody deletes it")?;
            let flow = match direction {
                Direction::Down => value::<tg_record>(&record)?.flow,
                Direction::Up => value::<tg_upload_record>(&record)?.upload.flow,
            };
            joined += usize::from(flow.member.sharing.joined != 0);
        }
        Ok(joined)
    }
}

/// Programs loaded for an interface of the calling thread's namespace.
pub struct OnInterface {
    object: Object,
    index: u32,
}

impl OnInterface {
    /// Attaches them until the returned descriptors are dropped.
    pub fn attach(&self) -> Result<[OwnedFd; 2]> {
        let link = |name: &str, hook| {
            let program = program(&self.object, name)?;
            // SAFETY: a descriptor that is open; without options.
            let fd = unsafe {
                libbpf_sys::bpf_link_create(
                    program.as_raw_fd(),
                    self.index as i32,
                    hook,
                    std::ptr::null(),
                )
            };
            ensure!(fd >= 0, "cannot attach: {}", Error::from_raw_os_error(-fd));
            // SAFETY: a new descriptor that nobody else owns.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        };
        Ok([
            link("ethernet_arrives", libbpf_sys::BPF_TCX_INGRESS)?,
            link("ethernet_leaves", libbpf_sys::BPF_TCX_EGRESS)?,
        ])
    }
}

/// Writes empty records of an interface's queues.
fn begin_paths(object: &Object, paths: &[&str], index: u32) -> Result<()> {
    for paths in paths {
        let map = map(object, paths)?;
        let blank = vec![0; map.value_size() as usize];
        map.update(&index.to_ne_bytes(), &blank, MapFlags::ANY)?;
    }
    Ok(())
}

fn program(object: &Object, name: &str) -> Result<OwnedFd> {
    let found = object.progs().find(|program| program.name() == name);
    let fd = found
        .with_context(|| format!("no program {name}"))?
        .as_fd()
        .try_clone_to_owned();
    fd.context("cannot hold a program")
}

fn map<'a>(object: &'a Object, name: &str) -> Result<Map<'a>> {
    let found = object
        .maps()
        .find(|map| map.name().to_string_lossy().ends_with(name));
    found.with_context(|| format!("no map {name}"))
}

/// Reads a record of the programs from a map's bytes.
fn value<T: Copy + Default>(bytes: &[u8]) -> Result<T> {
    ensure!(bytes.len() == size_of::<T>(), "a record of another size");
    // SAFETY: as many bytes as `T` has; the generated records are plain integers, valid for any.
    Ok(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// A program that does nothing: its cost is the overhead of running one.
pub struct Idle(OwnedFd);

impl Idle {
    pub fn load() -> Result<Self> {
        const MOVE: u32 = libbpf_sys::BPF_ALU64 | libbpf_sys::BPF_MOV | libbpf_sys::BPF_K;
        const EXIT: u32 = libbpf_sys::BPF_JMP | libbpf_sys::BPF_EXIT;
        let instruction = |code: u32, imm| libbpf_sys::bpf_insn {
            code: code as u8,
            imm,
            ..Default::default()
        };
        let code = [instruction(MOVE, PASSES as i32), instruction(EXIT, 0)];
        // SAFETY: two names that end with a zero, and as many instructions as it is told.
        let fd = unsafe {
            libbpf_sys::bpf_prog_load(
                libbpf_sys::BPF_PROG_TYPE_SCHED_CLS,
                c"idle".as_ptr(),
                c"GPL".as_ptr(),
                code.as_ptr(),
                code.len() as _,
                std::ptr::null_mut(),
            )
        };
        ensure!(
            fd >= 0,
            "cannot load a program: {}",
            Error::from_raw_os_error(-fd)
        );
        // SAFETY: a new descriptor that nobody else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Nanoseconds per run.
    pub fn cost(&self) -> Result<f64> {
        let mut spent = Duration::ZERO;
        for _ in 0..IDLE_RUNS {
            spent += test_run(self.0.as_fd(), &[0; 64])?;
        }
        Ok(spent.as_nanos() as f64 / f64::from(IDLE_RUNS))
    }
}

/// Runs a program once on a packet, which must pass. Returns the time that the kernel reports.
fn test_run(program: BorrowedFd<'_>, packet: &[u8]) -> Result<Duration> {
    let mut opts = libbpf_sys::bpf_test_run_opts {
        sz: size_of::<libbpf_sys::bpf_test_run_opts>() as _,
        data_in: packet.as_ptr().cast(),
        data_size_in: packet.len() as _,
        repeat: 1,
        ..Default::default()
    };
    // SAFETY: the kernel reads as many bytes as the packet has, and writes nothing but `opts`.
    let status = unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut opts) };
    ensure!(
        status == 0,
        "cannot run a program: {}",
        Error::from_raw_os_error(-status)
    );
    ensure!(opts.retval == PASSES, "a packet did not pass");
    Ok(Duration::from_nanos(opts.duration.into()))
}
