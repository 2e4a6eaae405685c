// Part of every page: what a script or a style asks for when it is there. `late` has lists of [kind, address], by address.
function ran(element) {
    for (const [kind, url] of late[element.src || element.href] ?? []) {
        if (kind === "data") {
            fetch(url).catch(() => {});
        } else {
            document.body.append(Object.assign(new Image(), { src: url }));
        }
    }
}
