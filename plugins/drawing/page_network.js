// The network as SVG: links, nodes, and the routes of a step as arrows.

const SVG = "http://www.w3.org/2000/svg";
const curves = new Map(network.curves.flatMap(([a, b, points]) => [
  [a * nodes.length + b, points], [b * nodes.length + a, [...points].reverse()],
]));
const radius = network.radius;

function svg(parent, tag, attributes = {}, text = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

const lineBetween = (a, b) => curves.get(a * nodes.length + b)
  ?? [[nodes[a].x, nodes[a].y], [nodes[b].x, nodes[b].y]];
const pathData = (points) => "M" + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");

// A line moved to its right by a distance.
function lane(points, distance) {
  if (!distance) return points;
  return points.map(([x, y], i) => {
    const [ax, ay] = points[Math.max(0, i - 1)], [bx, by] = points[Math.min(points.length - 1, i + 1)];
    const length = Math.hypot(bx - ax, by - ay) || 1;
    return [x - (by - ay) / length * distance, y + (bx - ax) / length * distance];
  });
}

// A line from a distance after its start on.
function withoutStart(points, distance) {
  for (let i = 1; i < points.length; i++) {
    const [ax, ay] = points[i - 1], [bx, by] = points[i];
    const length = Math.hypot(bx - ax, by - ay);
    if (length > distance) {
      const share = distance / length;
      return [[ax + (bx - ax) * share, ay + (by - ay) * share], ...points.slice(i)];
    }
    distance -= length;
  }
  return points.slice(-2);
}
const cut = (points, start, end) => withoutStart(withoutStart(points, start).reverse(), end).reverse();

function pointAt(points, share) {
  let total = 0;
  for (let i = 1; i < points.length; i++) total += Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
  return withoutStart(points, total * share)[0];
}

// The box of a text around its centre: left, top, right, bottom. Letters of East Asia are wider.
function textBox(text, x, y, font) {
  let width = 0;
  for (const letter of text) width += letter.codePointAt(0) >= 0x1100 ? 1 : 0.6;
  return [x - width * font / 2, y - 0.6 * font, x + width * font / 2, y + 0.6 * font];
}
const shared = (a, b) => Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]))
  * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
const covered = (box, others) => others.reduce((sum, other) => sum + shared(box, other), 0);

class NetworkPicture {
  constructor(root, faint) {
    this.root = root;
    root.classList.toggle("faint", faint);
    const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
    for (const points of curves.values()) for (const [x, y] of points) { xs.push(x); ys.push(y); }
    const low = (list) => list.reduce((a, b) => Math.min(a, b)), high = (list) => list.reduce((a, b) => Math.max(a, b));
    const margin = radius + 16;
    this.labels = nodes.map((node) => short(node.name, 12));
    const longest = this.labels.reduce((highest, label) => Math.max(highest, [...label].length), 1);
    this.inside = 1.75 * radius / (0.62 * Math.max(2, longest)) >= 7.5;
    const side = this.inside ? margin : Math.max(margin, longest * 4.2 + 6);
    const below = this.inside ? margin : margin + 12;
    const box = [low(xs) - side, low(ys) - margin, high(xs) - low(xs) + 2 * side, high(ys) - low(ys) + margin + below];
    this.width = Math.max(box[2], 240);
    box[0] -= (this.width - box[2]) / 2;
    box[2] = this.width;
    this.frame = [box[0], box[1], box[0] + box[2], box[1] + box[3]];
    root.setAttribute("viewBox", box.map((value) => value.toFixed(1)).join(" "));
    root.style.maxWidth = `${Math.round(1.35 * this.width)}px`;
    this.haloes = svg(root, "g");
    this.drawLinks(svg(root, "g"));
    this.marks = svg(root, "g");
    this.hits = svg(root, "g");
    this.arrows = svg(root, "g", { class: "arrows" });
    this.drawNodes(svg(root, "g"));
  }

  drawLinks(group) {
    const largest = channels.reduce((highest, channel) => Math.max(highest, channel[2]), 1);
    channels.forEach(([a, b, capacity], channel) => {
      const back = opposite[channel];
      if (back !== undefined && back < channel && channels[back][2] === capacity) return;
      const width = 1.2 + 4 * Math.log2(capacity) / Math.max(2, Math.log2(largest));
      const style = { class: "link", "stroke-width": width.toFixed(2) };
      if (sharesCapacity.has(channel)) style["stroke-dasharray"] = "6 4";
      const oneWay = back === undefined || channels[back][2] !== capacity;
      const line = oneWay && back !== undefined ? lane(lineBetween(a, b), 4) : lineBetween(a, b);
      const path = svg(group, "path", { ...style, d: pathData(line) });
      if (oneWay) this.head(group, cut(line, radius, radius + 1), 7, { fill: "var(--link)" });
      if (nodes.length <= 300) {
        const text = `${channelName(channel)}: capacity ${capacity}${sharesCapacity.has(channel) ? ", half duplex" : ""}`;
        svg(path, "title", {}, text);
      }
    });
  }

  drawNodes(group) {
    const font = this.font = this.inside
      ? Math.min(14, 1.75 * radius / (0.62 * Math.max(2, this.labels.reduce((highest, label) => Math.max(highest, [...label].length), 1))))
      : Math.min(13, network.gap / 4);
    const symbols = nodes.map(({ x, y }) => [x - radius, y - radius, x + radius, y + radius]);
    this.nodeLabels = [];
    this.nodeElements = nodes.map((node, index) => {
      const element = svg(group, "g", {
        class: "node", role: "button", tabindex: index ? -1 : 0, "data-node": index,
        "aria-label": `${node.symbol === "circle" ? "node" : node.symbol === "square" ? "endpoint" : "switch"} ${node.name}`,
      });
      svg(element, "title", {}, node.name);
      svg(element, "circle", { class: "area", cx: node.x, cy: node.y, r: Math.max(radius, 0.3 * network.gap) });
      if (node.symbol === "circle") svg(element, "circle", { class: "shape", cx: node.x, cy: node.y, r: radius });
      else {
        const rotation = node.symbol === "diamond" ? ` rotate(45 ${node.x} ${node.y})` : "";
        const r = radius * (rotation ? 0.85 : 0.9);
        svg(element, "rect", { class: "shape", x: node.x - r, y: node.y - r, width: 2 * r, height: 2 * r, transform: rotation });
      }
      if (this.inside) svg(element, "text", { x: node.x, y: node.y, "font-size": font }, this.labels[index]);
      else if (font >= 8) {
        const [x, y] = this.placeBeside(node, this.labels[index], symbols);
        svg(element, "text", { class: "beside", x, y, "font-size": font }, this.labels[index]);
      }
      return element;
    });
  }

  // The centre of a node's label: below the node, or where it covers fewer nodes and labels.
  placeBeside(node, text, symbols) {
    const [left, , right] = textBox(text, 0, 0, this.font);
    const aside = (right - left) / 2 + radius + 3, away = radius + 0.8 * this.font;
    let best = null, least = Infinity;
    for (const [x, y] of [[0, away], [0, -away], [aside, 0], [-aside, 0]]) {
      const box = textBox(text, node.x + x, node.y + y, this.font);
      const outside = (box[2] - box[0]) * (box[3] - box[1]) - shared(box, this.frame);
      const hidden = covered(box, symbols) + covered(box, this.nodeLabels) + 2 * outside;
      if (hidden < least) [best, least] = [box, hidden];
      if (!hidden) break;
    }
    this.nodeLabels.push(best);
    return [(best[0] + best[2]) / 2, (best[1] + best[3]) / 2];
  }

  // Measure the pixels per unit of the picture, and hide names that would be too small.
  measure() {
    this.scale = (this.root.getBoundingClientRect().width || this.width) / this.width;
    this.nameless = this.font < 8 || this.font * this.scale < 5.5;
    this.root.classList.toggle("unnamed", this.nameless);
  }

  // Areas that react to pointers, one beside each channel in its direction of travel.
  drawHits() {
    const width = Math.min(14, network.gap / 4);
    channels.forEach(([a, b], channel) => {
      const line = cut(lane(lineBetween(a, b), width / 2), radius, radius);
      svg(this.hits, "path", { class: "hit", d: pathData(line), "stroke-width": width, "data-channel": channel });
    });
  }

  head(group, line, size, attributes) {
    const [x, y] = line.at(-1), back = withoutStart([...line].reverse(), size)[0];
    const dx = x - back[0], dy = y - back[1];
    const points = [[x, y], [back[0] - 0.45 * dy, back[1] + 0.45 * dx], [back[0] + 0.45 * dy, back[1] - 0.45 * dx]];
    return svg(group, "path", { ...attributes, d: pathData(points) + "Z", stroke: "none" });
  }

  arrow(line, { colour, dash = "", width = 2.6, css = "", label = "" }) {
    const group = svg(this.arrows, "g", css ? { class: css } : {});
    const size = Math.min(6 + 1.6 * width, 0.3 * network.gap);
    const whole = cut(line, radius + 1.5, radius + 1);
    const body = withoutStart([...whole].reverse(), 0.8 * size).reverse();
    svg(group, "path", { class: "arrow", d: pathData(body), stroke: colour, "stroke-width": width, "stroke-dasharray": dash });
    this.head(group, whole, size, { fill: colour });
    return group;
  }

  // A text on a line, where no other text is; without such a place it is left out if it may be.
  label(group, line, text, optional) {
    const inner = cut(line, radius, radius), font = 10.5 / this.scale, words = short(text, 8);
    const near = network.gap * this.scale < 64 ? 0.48 : 0.6;
    for (const share of optional ? [near, 0.72, 0.36, 0.84] : [near]) {
      const [x, y] = pointAt(inner, share), box = textBox(words, x, y, font);
      if (optional && (covered(box, this.lineLabels) || covered(box, this.nodeLabels))) continue;
      this.lineLabels.push(box);
      svg(group, "text", { x: x.toFixed(1), y: y.toFixed(1), "font-size": font.toFixed(1) }, words);
      return;
    }
  }

  // The routes of a step; of a selection the whole journey, with its other steps lighter.
  drawStep(number, selection) {
    this.arrows.replaceChildren();
    this.marks.replaceChildren();
    this.lineLabels = [];
    const step = steps[number];
    const message = onlyMessage(selection);
    const whole = selection && (message !== undefined || selection.kind === "key");
    if (selection?.kind === "channel") {
      const [a, b] = channels[selection.id];
      svg(this.marks, "path", { class: "marked", d: pathData(lineBetween(a, b)), "stroke-width": 16 });
    }
    const lanes = new Map();
    step.forEach((transfer, index) => {
      for (let i = 1; i + 1 < transfer.length; i++) {
        const hop = channelBetween(transfer[i], transfer[i + 1]);
        if (!lanes.has(hop)) lanes.set(hop, []);
        lanes.get(hop).push(index);
      }
    });
    const labelled = network.gap * this.scale >= 46;
    const stroke = Math.max(1.2, Math.min(2.8, network.gap / 32));
    const order = step.map((_, index) => index);
    if (selection) order.sort((a, b) => isSelected(selection, step[a]) - isSelected(selection, step[b]));
    let journeyIsDue = Boolean(whole);
    for (const index of order) {
      const transfer = step[index], key = keys[transfer[0]];
      const chosen = selection && isSelected(selection, transfer);
      if (chosen && journeyIsDue) {  // above the arrows of other messages, below its own
        this.drawJourney(selection, number, message !== undefined);
        journeyIsDue = false;
      }
      const line = [];
      let last = [];
      for (let i = 1; i + 1 < transfer.length; i++) {
        const hop = channelBetween(transfer[i], transfer[i + 1]);
        const ahead = lanes.get(hop), behind = lanes.get(opposite[hop]) ?? [];
        const distance = Math.min(2.4 * stroke + 1.6, 1.7 * radius / (ahead.length + behind.length));
        const place = ahead.indexOf(index) + 0.5 - (behind.length ? 0 : ahead.length / 2);
        last = lane(lineBetween(transfer[i], transfer[i + 1]), place * distance);
        line.push(...last);
      }
      const group = this.arrow(line, {
        colour: colourOf(key), dash: lineOf(key), width: chosen ? stroke * 1.5 : stroke, css: selection && !chosen ? "dim" : "",
      });
      if (!labelled || (selection && !chosen)) continue;
      // One journey is labelled with its steps, many messages with their sources.
      if (message !== undefined && selection) this.label(group, last, String(number + 1), false);
      else if (messages.length > 1) this.label(group, last, keyName(key), true);
    }
    if (journeyIsDue) this.drawJourney(selection, number, message !== undefined);
    const held = message === undefined ? new Set() : holders(message, number);
    const node = selection?.kind === "node" ? selection.id : -1;
    this.nodeElements.forEach((element, index) => {
      element.classList.toggle("held", held.has(index));
      element.classList.toggle("selected", index === node);
    });
  }

  drawJourney(selection, number, numbered) {
    const others = journeyOf(selection).filter(([step]) => step !== number);
    if (others.length > 600) return;
    for (const [step, transfer] of others) {
      const line = [];
      for (let i = 1; i + 1 < transfer.length; i++) line.push(...lineBetween(transfer[i], transfer[i + 1]));
      const key = keys[transfer[0]];
      const group = this.arrow(line, { colour: colourOf(key), dash: lineOf(key), width: numbered ? 2 : 1.4, css: numbered ? "journey" : "later" });
      const last = lineBetween(transfer.at(-2), transfer.at(-1));
      if (numbered && network.gap * this.scale >= 30) this.label(group, last, String(step + 1), false);
    }
  }

  // What the lower bound counts: a set of nodes, channels by weight, nodes by the step of arrival.
  drawBound(bound) {
    const inside = new Set(bound.inside);
    const reach = radius + Math.min(8, 0.12 * network.gap);
    for (const node of inside) {
      svg(this.haloes, "path", { class: "halo", d: `M${nodes[node].x} ${nodes[node].y}h.01`, "stroke-width": 2 * reach });
    }
    for (const [a, b] of channels) {
      if (inside.has(a) && inside.has(b)) svg(this.haloes, "path", { class: "halo", d: pathData(lineBetween(a, b)), "stroke-width": 2 * reach });
    }
    const counted = new Set(bound.channels.map(([channel]) => channel));
    for (const [channel, weight] of [...bound.channels].sort((a, b) => a[1] - b[1])) {
      const [a, b] = channels[channel];
      const line = lane(lineBetween(a, b), counted.has(opposite[channel]) ? 4 : 0);
      this.arrow(line, { colour: "var(--bound)", width: 1 + 2.6 * weight });
    }
    this.nodeElements.forEach((element, node) => {
      element.classList.toggle("inside", inside.has(node));
      element.removeAttribute("tabindex");
      element.removeAttribute("role");
    });
    bound.layers.forEach((layer, number) => layer.forEach((node) => {
      this.nodeElements[node].querySelector(".shape").style.fill = layerColour(number, bound.layers.length);
    }));
  }
}

// Darker for later steps of a growth bound; light enough for the names of the nodes.
const layerColour = (number, total) =>
  `color-mix(in srgb, var(--accent) ${Math.round(8 + 50 * number / Math.max(1, total - 1))}%, var(--node))`;
