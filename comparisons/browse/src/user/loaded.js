// Returns when the page has loaded, and its objects; null before.
(() => {
    const [page] = performance.getEntriesByType("navigation");
    if (location.protocol !== "https:" || !(page?.loadEventEnd > 0)) {
        return null;
    }
    const objects = { h3: 0, kept: 0, failed: 0, bytes: 0, other: [] };
    for (const entry of [page, ...performance.getEntriesByType("resource")]) {
        if (entry.deliveryType === "cache") {
            objects.kept += 1;
        } else if (entry.nextHopProtocol === "h3") {
            objects.h3 += 1;
            objects.bytes += entry.transferSize;
        } else if (entry.nextHopProtocol === "") {
            objects.failed += 1;
        } else {
            objects.other.push(`${entry.nextHopProtocol} ${entry.name}`);
        }
    }
    return { load_s: page.loadEventEnd / 1e3, objects };
})()
