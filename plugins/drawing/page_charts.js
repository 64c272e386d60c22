// The two charts, channels by steps and nodes by steps, each on a canvas with a second one above.

const BARS = 30, FOOT = 20;
const MAX_PIXELS = 6000;  // browsers refuse canvases that are much higher or wider

// A CSS colour such as var(--c0) as the canvas needs it.
function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name.replace(/var\(|\)/g, "")).trim();
}

class Chart {
  // rows: [{label, group, selection}]; paint(context, row, step, x, y, width, height) draws a cell.
  constructor(box, { name, rows, paint, share, onCell, onPick }) {
    Object.assign(this, { box, rows, paint, share, onCell, onPick, row: 0, step: 0, selection: null });
    this.base = document.createElement("canvas");
    this.top = document.createElement("canvas");
    this.top.tabIndex = 0;
    this.top.setAttribute("role", "img");
    this.top.setAttribute("aria-label", `${name}: up and down choose a row, left and right a step, Enter keeps the row`);
    box.append(this.base, this.top);
    this.top.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.point(event, false));
    this.top.addEventListener("pointerleave", () => this.onCell(null));
    this.top.addEventListener("click", (event) => this.point(event, true));
    this.top.addEventListener("focus", () => this.onCell(this.rows[this.row], this.step));
    this.top.addEventListener("blur", () => this.onCell(null));
  }

  move(delta) {
    this.row = Math.max(0, Math.min(this.rows.length - 1, this.row + delta));
    this.onCell(this.rows[this.row], this.step);
    const y = BARS + this.row * this.high;
    if (y < this.box.scrollTop + BARS) this.box.scrollTop = y - BARS;
    if (y + this.high > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = y + this.high - this.box.clientHeight;
  }

  point(event, pick) {
    const rect = this.top.getBoundingClientRect();
    const row = Math.floor((event.clientY - rect.top - BARS) / this.high);
    const step = Math.floor((event.clientX - rect.left - this.margin) / this.wide);
    const inside = row >= 0 && row < this.rows.length && step < steps.length;
    if (inside) this.row = row;
    if (pick && inside) this.onPick(this.rows[row], step >= 0 ? step : this.step);
    else if (!pick) this.onCell(inside ? this.rows[row] : null, step >= 0 ? step : this.step);
  }

  layout() {
    const labels = this.rows.map((row) => short(row.label, 17));
    const total = this.rows.length;
    this.high = total <= 40 ? 18 : total <= 80 ? 13 : total <= 300 ? 5 : Math.min(2, MAX_PIXELS / total);
    const font = Math.min(12, this.high - 2);
    this.font = `${Math.max(10, font)}px system-ui, "DejaVu Sans", sans-serif`;
    this.labelled = font >= 10;
    const context = this.base.getContext("2d");
    context.font = this.font;
    const texts = this.labelled ? labels : this.rows.map((row) => short(row.group, 10));
    this.margin = Math.ceil(texts.reduce((wide, text) => Math.max(wide, context.measureText(text).width), 0)) + 10;
    const room = Math.max(120, this.box.clientWidth - this.margin - 8);
    this.wide = Math.max(Math.min(3, MAX_PIXELS / steps.length), Math.min(110, room / steps.length));
    this.width = Math.ceil(this.margin + steps.length * this.wide + 6);
    this.height = BARS + total * this.high + FOOT;
    const ratio = this.width * this.height > 4e6 ? 1 : Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.base, this.top]) {
      canvas.width = this.width * ratio;
      canvas.height = this.height * ratio;
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.palette = Object.fromEntries(["--ink", "--muted", "--line", "--surface", "--accent", "--blocked",
      ...Array.from({ length: COLOURS }, (_, i) => `--c${i}`)].map((name) => [`var(${name})`, cssColour(name)]));
    this.drawBase(context, labels, texts);
    this.show(this.step, this.selection);
  }

  drawBase(context, labels, texts) {
    const { margin, wide, high } = this;
    context.clearRect(0, 0, this.width, this.height);
    context.font = this.font;
    context.textBaseline = "middle";
    let group = null, lastText = -99;
    this.rows.forEach((row, number) => {
      const y = BARS + number * high;
      if (row.group !== group && number && high >= 5) {
        context.fillStyle = this.palette["var(--line)"];
        context.fillRect(0, y - 0.5, this.width, 1);
      }
      if (this.labelled || (row.group !== group && y - lastText >= 12)) {
        context.fillStyle = this.palette["var(--muted)"];
        context.fillText(this.labelled ? labels[number] : texts[number], 0, y + (this.labelled ? high / 2 : 6));
        lastText = y;
      }
      group = row.group;
      for (let step = 0; step < steps.length; step++) this.cell(context, row, step, number);
    });
    context.strokeStyle = this.palette["var(--line)"];
    context.strokeRect(margin + 0.5, BARS + 0.5, steps.length * wide, this.rows.length * high);
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((size) => size * wide >= 24) ?? 1000;
    context.textAlign = "center";
    for (let step = 0; step < steps.length; step++) {
      const part = this.share(step), tall = (BARS - 8) * part;
      context.fillStyle = this.palette["var(--muted)"];
      context.globalAlpha = 0.55;
      context.fillRect(margin + step * wide + 0.5, BARS - 3 - tall, Math.max(1, wide - 1), tall);
      context.globalAlpha = 1;
      if (step === 0 || (step + 1) % every === 0) {
        context.fillText(String(step + 1), margin + (step + 0.5) * wide, this.height - FOOT / 2 + 2);
      }
    }
    context.textAlign = "left";
  }

  cell(context, row, step, number) {
    const gap = this.high >= 10 ? 1 : 0, across = this.wide >= 8 ? 1 : 0;
    this.paint(context, row, step, this.margin + step * this.wide + across / 2 + 0.5, BARS + number * this.high + gap / 2 + 0.5,
      this.wide - across, this.high - gap, this.palette);
  }

  // Mark the step and fade all cells that a selection does not use.
  show(step, selection) {
    Object.assign(this, { step, selection });
    if (!this.width) return;
    const context = this.top.getContext("2d");
    context.clearRect(0, 0, this.width, this.height);
    if (selection) {
      context.globalAlpha = 0.8;
      context.fillStyle = this.palette["var(--surface)"];
      context.fillRect(this.margin, BARS, steps.length * this.wide, this.rows.length * this.high);
      context.globalAlpha = 1;
      for (const [number, time] of this.cellsOf(selection)) {
        context.clearRect(this.margin + time * this.wide, BARS + number * this.high, this.wide, this.high);
      }
      const number = this.rows.findIndex((row) => sameSelection(row.selection, selection));
      if (number >= 0) {
        context.clearRect(this.margin, BARS + number * this.high, steps.length * this.wide, this.high);
        context.strokeStyle = this.palette["var(--accent)"];
        context.lineWidth = 2;
        context.strokeRect(this.margin, BARS + number * this.high, steps.length * this.wide + 1, this.high + 1);
      }
    }
    context.strokeStyle = this.palette["var(--ink)"];
    context.lineWidth = 1.5;
    context.strokeRect(this.margin + step * this.wide, BARS - 2, this.wide + 1, this.rows.length * this.high + 4);
  }
}

class ChannelChart extends Chart {
  constructor(box, handlers) {
    const order = channels.map((_, channel) => channel).sort((a, b) =>
      channels[a][0] - channels[b][0] || channels[a][1] - channels[b][1]);
    const rows = order.map((channel) => ({
      label: channelName(channel), group: nodeName(channels[channel][0]), selection: { kind: "channel", id: channel },
    }));
    const load = new Float64Array(steps.length);
    channelUses.forEach((uses) => { for (let i = 0; i < uses.length; i += 2) load[uses[i]]++; });
    const capacity = channels.reduce((sum, channel, index) =>
      sum + (sharesCapacity.has(index) ? channel[2] / 2 : channel[2]), 0);
    super(box, { name: "Channels by steps", rows, share: (step) => load[step] / (capacity * data.rounds[step]), ...handlers });
    this.rowOf = new Map(order.map((channel, number) => [channel, number]));
    this.load = load;
    this.capacity = capacity;
    this.cells = channels.map(() => steps.map(() => null));
    channelUses.forEach((uses, channel) => {
      for (let i = 0; i < uses.length; i += 2) (this.cells[channel][uses[i]] ??= []).push(uses[i + 1]);
    });
    this.paint = this.paintCell;
  }

  // Of a channel in a step: its messages, how many of the opposite one share its capacity, this capacity, and what is free of it.
  usage(channel, step) {
    const used = this.cells[channel][step] ?? [];
    const shared = sharesCapacity.has(channel) ? this.cells[opposite[channel]][step]?.length ?? 0 : 0;
    const room = channels[channel][2] * data.rounds[step];
    return { used, shared, room, free: room - used.length - shared };
  }

  // A stripe per message in its colour; of a half-duplex pair, what the opposite channel uses is grey.
  paintCell(context, row, step, x, y, width, height, palette) {
    const { used, shared, room } = this.usage(row.selection.id, step);
    if (!used.length && !shared) return;
    const slot = width / room;
    used.forEach((message, place) => {
      context.fillStyle = palette[colourOf(keys[message])];
      context.fillRect(x + place * slot, y, slot, height);
    });
    if (shared) {
      context.fillStyle = palette["var(--blocked)"];
      context.fillRect(x + used.length * slot, y, shared * slot, height);
    }
    const key = used.length === 1 && width >= 16 && height >= 11 && keyList.length > 1 ? short(keyName(keys[used[0]]), 4) : "";
    if (!key || slot < 16) return;
    context.font = "600 10px system-ui, sans-serif";
    const wide = context.measureText(key).width;
    if (wide + 2 <= slot) {
      context.fillStyle = contrast(palette[colourOf(keys[used[0]])]);
      context.fillText(key, x + (slot - wide) / 2, y + height / 2 + 0.5);
    }
    context.font = this.font;
  }

  cellsOf(selection) {
    const cells = [];
    if (selection.kind === "channel") return cells;
    for (const [step, transfer] of journeyOf(selection)) {
      for (let i = 1; i + 1 < transfer.length; i++) {
        cells.push([this.rowOf.get(channelBetween(transfer[i], transfer[i + 1])), step]);
      }
    }
    return cells;
  }
}

class NodeChart extends Chart {
  constructor(box, handlers) {
    const rows = nodes.map((node, index) => ({ label: node.name, group: node.name, selection: { kind: "node", id: index } }));
    super(box, { name: "Nodes by steps", rows, share: () => 0, ...handlers });
    this.mode = 0;
    this.paint = this.paintCell;
    this.share = (step) => {
      let sum = 0, room = 0;
      for (let node = 0; node < nodes.length; node++) {
        sum += nodeLoads[this.mode][node][step];
        room += this.limit(node, step);
      }
      return room ? Math.min(1, sum / room) : 0;
    };
  }

  limit(node, step) { return Math.floor(data.limits[this.mode][node] * data.rounds[step]); }

  paintCell(context, row, step, x, y, width, height, palette) {
    const load = nodeLoads[this.mode][row.selection.id][step];
    if (!load) return;
    const share = Math.min(1, load / Math.max(1, this.limit(row.selection.id, step)));
    context.globalAlpha = 0.18 + 0.82 * share;
    context.fillStyle = palette["var(--accent)"];
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    if (width < 14 || height < 11) return;
    context.font = "600 10.5px system-ui, sans-serif";
    context.fillStyle = share > 0.55 ? contrast(palette["var(--accent)"]) : palette["var(--ink)"];
    context.textAlign = "center";
    context.fillText(String(load), x + width / 2, y + height / 2 + 0.5);
    context.textAlign = "left";
    context.font = this.font;
  }

  cellsOf(selection) {
    if (selection.kind === "node") return [];
    const cells = [];
    for (const [step, transfer] of journeyOf(selection)) {
      const path = transfer.slice(1);
      const chosen = this.mode === 0 ? path.slice(0, 1) : this.mode === 1 ? path.slice(-1) : path.slice(1, -1);
      for (const node of chosen) cells.push([node, step]);
    }
    return cells;
  }
}

// Black or white, whichever is easier to read on a colour of the form #rrggbb.
function contrast(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.3 * red + 0.59 * green + 0.11 * blue < 140 ? "#ffffff" : "#000000";
}
