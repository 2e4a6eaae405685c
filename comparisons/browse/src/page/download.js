// Downloads a large file for that time, and begins anew if the connection breaks.
async function download(name, seconds) {
    const control = new AbortController();
    setTimeout(() => control.abort(), seconds * 1e3);
    let bytes = 0;
    let failures = 0;
    while (!control.signal.aborted) {
        try {
            const answer = await fetch(`/data/${2 ** 30}/${name}`, { signal: control.signal });
            for await (const part of answer.body) {
                bytes += part.length;
            }
        } catch {
            failures += control.signal.aborted ? 0 : 1;
            await new Promise((done) => setTimeout(done, 1e3));
        }
    }
    return { bytes, failures };
}
