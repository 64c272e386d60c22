// The tree by which a message reaches its destinations, or all messages of a source: time runs
// from left to right, and a node stands in the column of the step in which it sends or receives.

const ROW = 22, MAX_ROWS = 400;

// The children of the root, each {node, step, message, children}, and the number of transfers left out.
function deliveryTree(list) {
  const roots = [];
  let rows = 0, left = 0;
  for (const message of list) {
    const found = new Map([[messages[message][0], { children: roots }]]);
    const journey = journeyOf({ kind: "message", id: message });
    if (combining) journey.reverse();
    for (const [step, transfer] of journey) {
      const path = transfer.slice(1);
      const [parent, node] = combining ? [path.at(-1), path[0]] : [path[0], path.at(-1)];
      if (rows >= MAX_ROWS || !found.has(parent)) { left++; continue; }
      const entry = { node, step, message, path, children: [] };
      found.get(parent).children.push(entry);
      found.set(node, entry);
      rows++;
    }
  }
  return { roots, left };
}

function drawTree(root, available, list, number, onPick) {
  root.replaceChildren();
  const { roots, left } = deliveryTree(list);
  const source = messages[list[0]][0];
  const longest = nodes.reduce((wide, node) => Math.max(wide, Math.min(12, [...node.name].length)), 1);
  const room = available - 30 - longest * 8;
  // Where no message is forwarded, names have their rows for themselves.
  const forwarded = roots.some((entry) => entry.children.length > 0);
  const column = Math.max(forwarded ? 22 + longest * 8 : 14, Math.min(130, room / (steps.length + 1)));
  const x = (step) => 14 + column * (combining ? step : step + 1);
  const rootX = combining ? 14 + column * steps.length : 14;
  const drawn = [];
  let row = roots.length > 1 && !forwarded ? 1 : 0;
  // A leaf takes a new row; a parent stands at the row of its first child.
  const place = (entry, parent) => {
    const item = { entry, parent, row };
    drawn.push(item);
    if (!entry.children.length) row++;
    for (const child of entry.children) place(child, item);
  };
  const top = { row: 0, entry: null };
  for (const entry of roots) place(entry, top);
  const height = 34 + Math.max(1, row) * ROW + 6;
  const width = 14 + column * steps.length + longest * 8 + 24;
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const y = (line) => 40 + line * ROW;
  svg(root, "rect", { class: "now", x: x(number) - Math.min(30, column) / 2, y: 0, width: Math.min(30, column), height, rx: 6 });
  const every = [1, 2, 5, 10, 20, 50, 100].find((size) => size * column >= 28) ?? 200;
  for (let step = 0; step < steps.length; step++) if (step === 0 || (step + 1) % every === 0) svg(root, "text", { class: "head", x: x(step), y: 12 }, String(step + 1));
  const held = list.length === 1 ? holders(list[0], number) : new Set();
  const lines = svg(root, "g"), dots = svg(root, "g");
  const dot = (cx, cy, node, step, entry) => {
    const group = svg(dots, "g", entry ? { "data-step": step } : {});
    svg(group, "circle", { cx, cy, r: 6, class: held.has(node) ? "held" : "" });
    svg(group, "text", { x: cx + 11, y: cy }, short(nodeName(node), 12));
    if (entry) {
      svg(group, "title", {}, `step ${step + 1}: ${routeName(entry.path)}`);
      group.style.cursor = "pointer";
      group.addEventListener("click", () => onPick(step, entry.message));
    }
  };
  for (const { entry, parent, row: line } of drawn) {
    const px = parent.entry ? x(parent.entry.step) : rootX, py = y(parent.row);
    const cx = x(entry.step), cy = y(line), key = keys[entry.message];
    // From the parent straight down, then across: names stand right of their dots.
    const d = cy === py ? `M${px} ${py}H${cx}` : `M${px} ${py}V${cy}H${cx}`;
    svg(lines, "path", { class: "branch", d, stroke: colourOf(key), "stroke-dasharray": lineOf(key), opacity: entry.step > number ? 0.45 : 1 });
  }
  for (const { entry, row: line } of drawn) dot(x(entry.step), y(line), entry.node, entry.step, entry);
  dot(rootX, y(0), source, -1, null);
  return left;
}
