// What is wrong with a page as it is drawn now: a list of sentences.
(() => {
  const complaints = [];
  const complain = (node, what) => {
    const text = (node.textContent || "").trim().replace(/\s+/g, " ").slice(0, 50);
    complaints.push(`<${node.tagName.toLowerCase()} class="${node.getAttribute("class") || ""}"> "${text}": ${what}`);
  };
  // Not the window's: a phone zooms out to show what is too wide.
  const root = document.documentElement;
  const width = root.clientWidth;
  if (root.scrollWidth > width) complaints.push(`the page is ${root.scrollWidth} pixels wide, the screen ${width}`);

  // Whether a reader sees it: not what is there for screen readers alone.
  const isSeen = (node) => {
    if (node.checkVisibility && !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    for (let at = node; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.clipPath === "inset(50%)" || style.opacity === "0") return false;
    }
    const box = node.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  const around = (box) => [box.left, box.top, box.right, box.bottom].map(Math.round).join(", ");
  const ownText = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== "");

  const parse = (text) => {
    const numbers = text.match(/[\d.]+/g);
    if (!numbers) return [0, 0, 0, 0];
    const [red, green, blue, alpha] = numbers.map(Number);
    return [red, green, blue, alpha === undefined ? 1 : alpha];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const backgroundOf = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reverse().reduce((under, top) => over(top, under), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const luminance = ([red, green, blue]) => {
    const linear = [red, green, blue].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  for (const node of document.body.querySelectorAll("*")) {
    if (!ownText(node) || ["SCRIPT", "STYLE", "NOSCRIPT", "TITLE"].includes(node.tagName) || !isSeen(node)) continue;
    const style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    if (box.left < -1 || box.right > width + 1) complain(node, `reaches from ${box.left} to ${box.right}, the screen to ${width}`);
    const drawn = node instanceof SVGElement;
    if (!drawn && node.scrollWidth > node.clientWidth + 1 && style.display !== "inline") complain(node, "does not fit into its box");
    for (let at = node.parentElement; at; at = at.parentElement) {
      const of = getComputedStyle(at);
      if (of.overflowX === "visible") continue;
      const edge = at.getBoundingClientRect();
      // Letters that are drawn are smaller than their box.
      const room = drawn ? 3 : 1;
      if (box.right > edge.right + room || box.left < edge.left - room) complain(node, "is cut off, or has to be scrolled to");
      break;
    }
    const ink = parse(drawn ? style.fill : style.color);
    const paper = backgroundOf(drawn ? node.ownerSVGElement.parentElement : node);
    const ratio = contrast(over(ink, paper), paper);
    if (ratio < 4.5) complain(node, `contrast ${ratio.toFixed(2)}`);
    const turned = drawn && node.getScreenCTM();
    const scale = turned ? Math.hypot(turned.a, turned.b) : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 10.5) complain(node, `letters of ${size.toFixed(1)} pixels`);
  }
  for (const figure of document.querySelectorAll("svg")) {
    if (!isSeen(figure)) continue;
    const edge = figure.getBoundingClientRect();
    for (const text of figure.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      const inside = box.left >= edge.left - 3 && box.right <= edge.right + 3 && box.top >= edge.top - 3 && box.bottom <= edge.bottom + 3;
      if (!inside) complain(text, `is cut off by its picture: ${around(box)} in ${around(edge)}`);
    }
    const named = figure.getAttribute("aria-label") || figure.querySelector("title") || figure.closest("[aria-hidden=true]");
    if (!named) complain(figure, "a picture without a name");
  }
  for (const image of document.querySelectorAll("img")) {
    if (!image.hasAttribute("alt")) complain(image, "an image without a text");
    if (!image.complete || image.naturalWidth === 0) complain(image, "an image that is not there");
  }
  for (const control of document.querySelectorAll("input, select, textarea, button, a[href], summary")) {
    const labels = control.labels && [...control.labels].map((label) => label.textContent).join("");
    const name = control.getAttribute("aria-label") || labels || control.textContent;
    if (!name || name.trim() === "") complain(control, "a control without a name");
  }
  for (const table of document.querySelectorAll("table")) if (!table.querySelector("th")) complain(table, "a table without heads");
  for (const group of document.querySelectorAll("fieldset")) if (!group.querySelector("legend")) complain(group, "a group without a name");
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")].map((node) => Number(node.tagName[1]));
  if (headings.filter((level) => level === 1).length !== 1) complaints.push(`${headings.filter((l) => l === 1).length} headings of the first rank`);
  headings.reduce((before, level) => {
    if (level > before + 1) complaints.push(`a heading of rank ${level} below one of ${before}`);
    return level;
  }, 0);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) complaints.push(`two of id ${id}`);
  for (const node of document.querySelectorAll("[aria-labelledby]")) {
    if (!document.getElementById(node.getAttribute("aria-labelledby"))) complain(node, "is named by nothing");
  }
  if (!root.lang) complaints.push("the page has no language");
  if (!document.title) complaints.push("the page has no title");
  if (!document.querySelector("meta[name=viewport]")) complaints.push("the page has no viewport");
  if (/[\u2500-\u257f]/.test(document.body.innerText)) complaints.push("characters that draw boxes");
  return complaints;
})()
