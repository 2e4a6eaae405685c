// A player without a screen: it fetches segments, and reports when they would be shown and when the video would stall.

const LADDER = [0.3e6, 0.7e6, 1.3e6, 2.5e6, 4.5e6, 8e6]; // bit/s: 240p to 1440p
const FIRST = 1; // nothing is known of the link yet
const AHEAD_S = 30; // most that is buffered
const RESERVOIR_S = 10; // below this the buffer does not choose
const SAFE = 0.8; // share of the throughput that is used
const REMEMBERED = 4; // segments whose throughput counts
const RETRY_S = 1;

const now = () => performance.now() / 1e3;

// The playback: how much was shown, and since when it stalls.
class Screen {
    constructor() {
        this.asked = this.seen = now();
        this.ahead = this.shown = this.stalled = this.stalls = 0;
        this.started = null; // after how many seconds
        this.runs = false;
    }

    // Updates to the present.
    look() {
        const passed = now() - this.seen;
        this.seen += passed;
        if (!this.runs) {
            this.stalled += this.started === null ? 0 : passed;
            return;
        }
        const shown = Math.min(passed, this.ahead);
        this.shown += shown;
        this.ahead -= shown;
        if (shown < passed) {
            this.runs = false;
            this.stalls += 1;
            this.stalled += passed - shown;
        }
    }

    add(seconds) {
        this.look();
        this.ahead += seconds;
        this.runs = true;
        this.started ??= this.seen - this.asked;
    }
}

// Chooses the bitrate: by throughput, or what a longer buffer allows, if that is more (BBA: Huang and others, 2014).
function choose(ahead, rates) {
    if (rates.length === 0) {
        return FIRST;
    }
    const mean = rates.length / rates.reduce((sum, rate) => sum + 1 / rate, 0);
    const carried = LADDER.findLastIndex((bitrate) => bitrate <= SAFE * mean);
    const share = (ahead - RESERVOIR_S) / (AHEAD_S - SEGMENT_S - RESERVOIR_S);
    const allowed = Math.floor(share * (LADDER.length - 1));
    return Math.min(Math.max(carried, allowed, 0), LADDER.length - 1);
}

// Fetches a segment. Returns the throughput; null if the network failed.
async function fetched(url, signal) {
    const began = now();
    try {
        const answer = await fetch(url, { signal });
        const { byteLength } = await answer.arrayBuffer();
        return answer.ok ? (byteLength * 8) / (now() - began) : null;
    } catch {
        return null;
    }
}

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1e3));

// Plays for `seconds`; the time now is `clock`, in the caller's seconds.
async function play(name, clock, seconds, weights) {
    const screen = new Screen();
    const end = screen.asked + seconds;
    const control = new AbortController();
    setTimeout(() => control.abort(), seconds * 1e3);
    const rates = [];
    const chosen = [];
    let failures = 0;
    for (let number = 0; number < weights.length;) {
        screen.look();
        await pause(Math.min(screen.ahead + SEGMENT_S - AHEAD_S, end - now()));
        if (now() >= end) {
            break;
        }
        screen.look();
        const bitrate = LADDER[choose(screen.ahead, rates.slice(-REMEMBERED))];
        const bytes = Math.round((bitrate * weights[number] * SEGMENT_S) / 8);
        const rate = await fetched(`/data/${bytes}/${name}/${number}`, control.signal);
        if (control.signal.aborted) {
            break;
        }
        if (rate === null) {
            failures += 1;
            await pause(RETRY_S);
            continue;
        }
        screen.add(SEGMENT_S);
        rates.push(rate);
        chosen.push(bitrate);
        number += 1;
    }
    await pause(end - now());
    screen.look();
    // Bits of the shown segments; the last of them may be shown in part.
    let left = screen.shown;
    let bits = 0;
    for (const bitrate of chosen) {
        bits += bitrate * Math.min(left, SEGMENT_S);
        left -= Math.min(left, SEGMENT_S);
    }
    const started = screen.started === null ? null : clock + screen.started;
    const { shown, stalls, stalled } = screen;
    const changes = chosen.filter((bitrate, n) => n > 0 && bitrate !== chosen[n - 1]).length;
    return { started_s: started, shown_s: shown, stalls, stalled_s: stalled, bits, changes, failures };
}
