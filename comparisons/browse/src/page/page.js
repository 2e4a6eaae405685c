// Part of every page: loads the objects that a script or style needs once it is there. `late` has lists of [kind,
// address], by address of the script or style.
function ran(element) {
    for (const [kind, url] of late[element.src || element.href] ?? []) {
        if (kind === "data") {
            fetch(url).catch(() => {});
        } else {
            document.body.append(Object.assign(new Image(), { src: url }));
        }
    }
}
