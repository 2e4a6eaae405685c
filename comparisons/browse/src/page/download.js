// As much of a large file as comes in that time.
async function download(name, seconds) {
    const control = new AbortController();
    const began = performance.now();
    setTimeout(() => control.abort(), seconds * 1e3);
    let bytes = 0;
    try {
        const answer = await fetch(`/data/${2 ** 30}/${name}`, { signal: control.signal });
        if (!answer.ok) {
            throw new Error(answer.status);
        }
        for await (const part of answer.body) {
            bytes += part.length;
        }
    } catch (error) {
        if (!control.signal.aborted) {
            throw error;
        }
    }
    return { bytes, seconds: (performance.now() - began) / 1e3 };
}
