// The state of the page (step, selection) and everything that changes it.

const MAX_LISTED = 200, MAX_REACTING = 5000, PLAY_MILLISECONDS = 1000;
const $ = (id) => document.getElementById(id);
const state = { step: 0, pinned: null, preview: null, timer: 0 };
const noun = combining ? "Reduction" : "Message";
const selection = () => state.preview ?? state.pinned;

const picture = new NetworkPicture($("network"), true);
const channelsReact = channels.length <= MAX_REACTING;
if (channelsReact) picture.drawHits();

const handlers = (cellText) => ({
  onCell: (row, step) => {
    cellText(row, step);
    preview(row ? row.selection : null);
  },
  onPick: (row, step) => { goTo(step); pin(row.selection); },
});
const channelChart = new ChannelChart($("channels"), handlers((row, step) => {
  $("channels-cell").textContent = row ? channelCell(row.selection.id, step) : "";
}));
const nodeChart = new NodeChart($("nodes"), handlers((row, step) => {
  $("nodes-cell").textContent = row ? nodeCell(row.selection.id, step) : "";
}));

function channelCell(channel, step) {
  const { used, shared, room, free } = channelChart.usage(channel, step);
  const names = used.slice(0, 4).map(messageName).join(", ") + (used.length > 4 ? ", …" : "");
  const other = shared ? `, ${shared} used by the opposite direction` : "";
  return `Channel ${channelName(channel)} in step ${step + 1}: ${used.length ? names : "no message"}${other}; ${free} of ${room} free.`;
}

function nodeCell(node, step) {
  const [sends, receives, passes] = nodeLoads.map((loads) => loads[node][step]);
  const most = data.limits.map((limits) => Math.floor(limits[node] * data.rounds[step]));
  const passed = data.hopByHop ? "" : `, ${passes} of ${most[2]} passed on`;
  return `Node ${nodeName(node)} in step ${step + 1}: ${sends} of ${most[0]} sent, ${receives} of ${most[1]} received${passed}.`;
}

// Steps

function goTo(step) {
  state.step = Math.max(0, Math.min(steps.length - 1, step));
  render();
}

function play(on) {
  clearInterval(state.timer);
  state.timer = on ? setInterval(() => goTo((state.step + 1) % steps.length), PLAY_MILLISECONDS) : 0;
  $("play").textContent = on ? "Pause" : "Play";
  $("play").setAttribute("aria-pressed", String(on));
  // A screen reader would be interrupted by every step.
  $("step-title").setAttribute("aria-live", on ? "off" : "polite");
}

// Selections

function preview(wanted) {
  if (sameSelection(state.preview, wanted)) return;
  state.preview = wanted;
  render();
}

function pin(wanted) {
  state.pinned = sameSelection(state.pinned, wanted) ? null : wanted;
  state.preview = null;
  render();
}

function hover(element, wanted) {
  element.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && preview(wanted));
  element.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && preview(null));
}

// What the page shows

let drawn = {};

function render() {
  const chosen = selection(), step = state.step;
  if (drawn.step === step && sameSelection(drawn.chosen, chosen) && sameSelection(drawn.pinned, state.pinned)) return;
  $("slider").value = step + 1;
  $("slider").setAttribute("aria-valuetext", `step ${step + 1} of ${steps.length}`);
  const rounds = data.rounds[step] > 1 ? `, ${data.rounds[step]} rounds` : "";
  $("step-title").textContent = `Step ${step + 1} of ${data.allSteps}${rounds}`;
  $("previous").disabled = step === 0;
  $("next").disabled = step === steps.length - 1;
  picture.drawStep(step, chosen);
  channelChart.show(step, chosen);
  nodeChart.show(step, chosen);
  showSums(step);
  // A preview must not change the list under the pointer, nor the element that has the focus.
  if (drawn.step !== step || !sameSelection(drawn.pinned, state.pinned)) {
    showJourney(step);
    showTree(step);
    showPickers();
  }
  $("journey-text").textContent = describe(chosen);
  drawn = { step, chosen, pinned: state.pinned };
}

function showSums(step) {
  const used = channelChart.load[step], all = channelChart.capacity * data.rounds[step];
  const sum = channelChart.load.reduce((a, b) => a + b, 0);
  const room = steps.reduce((total, _, index) => total + channelChart.capacity * data.rounds[index], 0);
  $("channels-sum").textContent = `Step ${step + 1} uses ${Math.round(100 * used / all)} % of the channels' capacity, ${steps.length === data.allSteps ? "all steps" : "these steps"} together ${Math.round(100 * sum / room)} %. Empty cells are free; the bars above show each step.`;
  $("nodes-sum").textContent = "The fuller the colour, the nearer to what ports and channels allow in a step.";
  if (!data.bound?.channels?.length) return;
  const counted = data.bound.channels.filter(([channel]) => channelChart.cells[channel][step]);
  $("bound-step").textContent = `In step ${step + 1}, ${counted.length.toLocaleString("en")} of these ${count(data.bound.channels.length, "channel")} ${counted.length === 1 ? "carries" : "carry"} a message.`;
}

function describe(chosen) {
  if (!chosen) return `${count(steps[state.step].length, "transfer")} in step ${state.step + 1}.`;
  const journey = journeyOf(chosen);
  const when = [...new Set(journey.map(([step]) => step))];
  const inSteps = when.length === 1 ? `step ${when[0] + 1}` : count(when.length, "step");
  if (chosen.kind === "message") {
    return `${noun} ${messageName(chosen.id)}: ${count(journey.length, "transfer")} in ${inSteps}.`;
  }
  if (chosen.kind === "key") return `${$("key-word").textContent} ${keyName(chosen.id)}: ${count(journey.length, "transfer")} in ${inSteps}.`;
  if (chosen.kind === "channel") {
    const free = steps.map((_, step) => step).filter((step) => channelChart.usage(chosen.id, step).free > 0);
    const rest = free.length === 0 ? "full in every step" : free.length <= 12
      ? `free in step${free.length > 1 ? "s" : ""} ${free.map((step) => step + 1).join(", ")}` : `free in ${free.length} steps`;
    return `Channel ${channelName(chosen.id)}: ${count(journey.length, "message")}; ${rest}.`;
  }
  const total = nodeLoads.map((loads) => loads[chosen.id].reduce((a, b) => a + b, 0));
  return `Node ${nodeName(chosen.id)}: sends ${total[0]}, receives ${total[1]}${data.hopByHop ? "" : `, passes on ${total[2]}`}.`;
}

function swatch(key) {
  const root = document.createElementNS(SVG, "svg");
  root.setAttribute("class", "swatch");
  root.setAttribute("viewBox", "0 0 22 10");
  root.setAttribute("aria-hidden", "true");
  svg(root, "path", { d: "M0 5H22", stroke: colourOf(key), "stroke-width": 3, "stroke-dasharray": lineOf(key) });
  return root;
}

function showJourney(step) {
  const chosen = state.pinned;
  const entries = chosen ? journeyOf(chosen) : steps[step].map((transfer) => [step, transfer]);
  $("journey-title").textContent = chosen ? "Journey" : "Transfers of this step";
  $("clear").hidden = !chosen;
  // The step that is shown must be among the entries that are listed.
  const first = Math.max(0, Math.min(entries.findIndex(([time]) => time >= step), entries.length - MAX_LISTED));
  const list = $("journey"), hadFocus = list.contains(document.activeElement);
  const place = [...list.children].findIndex((item) => item.contains(document.activeElement));
  list.replaceChildren(...entries.slice(first, first + MAX_LISTED).map(([time, transfer]) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    const name = document.createElement("span"), route = document.createElement("span");
    name.className = "name";
    name.textContent = chosen ? `step ${time + 1}` : messageName(transfer[0]);
    const path = routeName(transfer.slice(1));
    // The ends of the path name the message if it has no others.
    const [source, ...others] = messages[transfer[0]];
    const named = others.length === 1 && transfer[1] === source && transfer.at(-1) === others[0];
    route.className = "route";
    route.textContent = !chosen || chosen.kind === "message" || named || messages.length === 1
      ? path : `${messageName(transfer[0])}: ${path}`;
    button.append(swatch(keys[transfer[0]]), name, route);
    button.classList.toggle("now", Boolean(chosen) && time === step);
    if (chosen) button.addEventListener("click", () => goTo(time));
    else {
      const wanted = { kind: "message", id: transfer[0] };
      button.addEventListener("click", () => pin(wanted));
      button.addEventListener("focus", () => button.matches(":focus-visible") && preview(wanted));
      button.addEventListener("blur", () => preview(null));
      hover(button, wanted);
    }
    item.append(button);
    return item;
  }));
  if (hadFocus) {
    const near = list.children[chosen ? [...list.children].findIndex((item) => item.firstChild.matches(".now")) : place] ?? list.children[0];
    near?.firstChild.focus();
  }
  const hidden = entries.length - list.children.length;
  $("journey-note").textContent = hidden > 0
    ? `${count(hidden, "more transfer")} not listed: choose a message, a node or a channel, or another step.` : "";
}

let treeRoom = 300;

function showTree(step) {
  if (summing) { $("tree-section").hidden = true; return; }  // sums do not form a tree
  let list = [(steps.find((transfers) => transfers.length) ?? [[0]])[0][0]];  // steps may be empty
  if (state.pinned?.kind === "message") list = [state.pinned.id];
  else if (state.pinned?.kind === "key") list = messagesOf(state.pinned.id);
  else if (state.pinned?.kind === "node") {
    const own = messages.findIndex((message) => message[0] === state.pinned.id);
    if (own >= 0) list = [own];
  } else if (state.pinned) list = [channelUses[state.pinned.id][1] ?? list[0]];
  // A message with one other end is a single branch: show all messages of the same source.
  const one = messages[list[0]][0];
  if (messages[list[0]].length === 2 && state.pinned?.kind !== "message") {
    const own = messages.map((_, message) => message).filter((message) => messages[message][0] === one);
    // Of a page without its last steps some messages have no transfers.
    list = own.filter((message) => messageUses[message].length);
    if (!list.length) list = own;
    list.sort((a, b) => messageUses[a].at(-2) - messageUses[b].at(-2));
  }
  const left = drawTree($("tree"), treeRoom, list, step, (time, message) => { goTo(time); pin({ kind: "message", id: message }); });
  const whose = list.length === 1 ? `${noun} ${messageName(list[0])}` : `All ${list.length} ${noun.toLowerCase()}s ${combining ? "to" : "from"} ${nodeName(one)}`;
  $("tree-title").textContent = combining ? "How the parts come together" : messages[list[0]].length > 2 ? "Broadcast tree" : "Deliveries";
  $("tree-note").textContent = `${whose}: a node stands in the column of the step in which it ${combining ? "sends" : "receives"}.${left ? ` ${count(left, "more transfer")} not shown.` : ""}`;
}

function messagesOf(key) {
  const found = [];
  keys.forEach((other, message) => { if (other === key) found.push(message); });
  return found;
}

// Pickers: every message, node and channel by name

function fill(select, first, entries) {
  select.replaceChildren(new Option(first, ""), ...entries.map(([value, text]) => new Option(text, value)));
}

let filledKey = null;

function fillMessages(key) {
  if (key === filledKey) return;
  filledKey = key;
  const list = key === "" ? [] : messagesOf(key);
  fill($("pick-message"), key === "" ? "first choose a source" : "all", list.map((message) => [message, messageName(message)]));
  $("pick-message").disabled = key === "" || list.length < 2;
}

function showPickers() {
  const chosen = state.pinned;
  $("pick-node").value = chosen?.kind === "node" ? chosen.id : "";
  $("pick-channel").value = chosen?.kind === "channel" ? chosen.id : "";
  const key = chosen?.kind === "key" ? chosen.id : chosen?.kind === "message" ? keys[chosen.id] : "";
  fillMessages(key);
  $("pick-key").value = key;
  $("pick-message").value = chosen?.kind === "message" && !$("pick-message").disabled ? chosen.id : "";
  for (const button of $("legend").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.key) === key && key !== ""));
  }
}

function setUpPickers() {
  $("key-word").textContent = data.keyWords;
  fill($("pick-key"), "all", keyList.map((key) => [key, keyName(key)]));
  fill($("pick-node"), "none", nodes.map((node, index) => [index, node.name]));
  fill($("pick-channel"), "none", channelChart.rows.map((row) => [row.selection.id, row.label]));
  $("pick-message-label").hidden = keyList.length === messages.length;
  const choose = (kind, value) => {
    state.pinned = null;
    if (value === "") { state.preview = null; render(); } else pin({ kind, id: Number(value) });
  };
  $("pick-key").addEventListener("change", (event) => choose("key", event.target.value));
  $("pick-node").addEventListener("change", (event) => choose("node", event.target.value));
  $("pick-channel").addEventListener("change", (event) => choose("channel", event.target.value));
  $("pick-message").addEventListener("change", (event) =>
    event.target.value === "" ? choose("key", $("pick-key").value) : choose("message", event.target.value));
}

function setUpLegend() {
  const legend = $("legend");
  if (keyList.length > 1) {
    legend.append(Object.assign(document.createElement("span"), { textContent: data.keyWords }));
    for (const key of keyList.slice(0, MAX_LISTED)) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.key = key;
      button.append(swatch(key), short(keyName(key)));
      button.addEventListener("click", () => pin({ kind: "key", id: key }));
      hover(button, { kind: "key", id: key });
      legend.append(button);
    }
  }
}

function setUpNote() {
  const words = [];
  const kinds = new Set(nodes.map((node) => node.symbol));
  if (kinds.size > 1) words.push("Circles are processors, squares endpoints, diamonds switches.");
  else if (kinds.has("diamond")) words.push("Diamonds are switches.");
  if (network.halfDuplex.length) words.push("Dashed links are half duplex: both directions share one capacity.");
  if (channels.some((channel) => channel[2] !== channels[0][2])) words.push("Wider links have more capacity.");
  if (messages.length === 1) words.push(`Before the step, filled nodes ${data.kind === "allreduce" ? "hold the whole sum" : summing ? "hold the sum that they need" : combining ? "still hold a part" : "hold the message"}.`);
  if (coloursRepeat) words.push(`Colours and dashes repeat after ${COLOURS * LINES.length}: choose one to see it alone.`);
  if (keyList.length > MAX_LISTED) words.push(`The legend has the first ${MAX_LISTED}; the list below has all.`);
  if (!channelsReact) words.push("Channels are too many to point at: choose one from the list or in the chart.");
  if (Math.min(channelChart.high, channelChart.wide) < 1) words.push("In the chart of channels several cells share a pixel.");
  if (picture.nameless) words.push("Names of nodes have no room here: hover, tap and the lists show them.");
  $("network-note").textContent = words.join(" ");
}

let boundPicture = null;

function setUpBound() {
  const root = $("bound");
  if (!root) return;
  const bound = data.bound;
  if (!bound.kind) { root.remove(); return; }
  boundPicture = new NetworkPicture(root, true);
  boundPicture.drawBound(bound);
  const entry = (colour, text) => {
    const span = document.createElement("span"), box = document.createElementNS(SVG, "svg");
    span.className = "entry";
    box.setAttribute("class", "swatch");
    box.setAttribute("viewBox", "0 0 22 10");
    svg(box, "rect", { width: 22, height: 10, rx: 3, style: `fill: ${colour}` });
    span.append(box, text);
    $("bound-legend").append(span);
  };
  if (bound.inside.length) entry("var(--inside)", "nodes that it counts");
  if (bound.channels.length) {
    const same = bound.channels.every(([, weight]) => weight === bound.channels[0][1]);
    entry("var(--bound)", same ? "channels that it counts" : "channels that it counts, wider for a higher price");
  }
  bound.layers.forEach((_, number) => entry(layerColour(number, bound.layers.length), number ? `step ${number} at the earliest` : "has it at the start"));
}

// Pointers and keys

$("previous").addEventListener("click", () => goTo(state.step - 1));
$("next").addEventListener("click", () => goTo(state.step + 1));
$("play").addEventListener("click", () => play(!state.timer));
$("slider").addEventListener("input", (event) => goTo(Number(event.target.value) - 1));
$("clear").addEventListener("click", () => { pin(null); $("pick-key").focus(); });
for (const radio of document.querySelectorAll("input[name=mode]")) {
  radio.addEventListener("change", () => { nodeChart.mode = Number(radio.value); nodeChart.layout(); });
}

picture.nodeElements.forEach((element, node) => {
  const wanted = { kind: "node", id: node };
  hover(element, wanted);
  element.addEventListener("click", () => pin(wanted));
  element.addEventListener("focus", () => element.matches(":focus-visible") && preview(wanted));
  element.addEventListener("blur", () => preview(null));
});
for (const path of picture.hits.children) {
  const wanted = { kind: "channel", id: Number(path.dataset.channel) };
  hover(path, wanted);
  path.addEventListener("click", () => pin(wanted));
}

function moveFocus(delta) {
  const active = document.activeElement;
  if (active === channelChart.top) channelChart.move(delta);
  else if (active === nodeChart.top) nodeChart.move(delta);
  else if ($("journey").contains(active)) {
    const other = delta > 0 ? active.parentElement.nextElementSibling : active.parentElement.previousElementSibling;
    other?.firstChild.focus();
  } else if ($("network").contains(active)) {
    const next = (picture.nodeElements.indexOf(active) + delta + nodes.length) % nodes.length;
    active.tabIndex = -1;
    picture.nodeElements[next].tabIndex = 0;
    picture.nodeElements[next].focus();
  } else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key, target } = event;
  const field = target.matches("select, input[type=radio]");
  const arrows = { ArrowLeft: -1, ArrowRight: 1 }[key];
  let done = true;
  if (arrows && !field) goTo(state.step + arrows);
  else if (key === "Home" && !field) goTo(0);
  else if (key === "End" && !field) goTo(steps.length - 1);
  else if ((key === "ArrowUp" || key === "ArrowDown") && !field) done = moveFocus(key === "ArrowDown" ? 1 : -1);
  else if (key === "Escape") { state.preview = null; state.pinned = null; render(); }
  else if (key === " " && !target.matches("button, select, input, [role=button]")) play(!state.timer);
  else if ((key === "Enter" || key === " ") && target.matches(".node")) target.dispatchEvent(new Event("click"));
  else if (key === "Enter" && target === channelChart.top) pin(channelChart.rows[channelChart.row].selection);
  else if (key === "Enter" && target === nodeChart.top) pin(nodeChart.rows[nodeChart.row].selection);
  else done = false;
  if (done) {
    event.preventDefault();
    const active = document.activeElement;
    for (const chart of [channelChart, nodeChart]) {
      if (arrows && active === chart.top) chart.onCell(chart.rows[chart.row], state.step);
    }
  }
});

function layout() {
  for (const each of [picture, boundPicture]) each?.measure();
  channelChart.layout();
  nodeChart.layout();
  setUpNote();
  treeRoom = $("tree").parentElement.clientWidth;
  drawn = {};
  render();
}

$("slider").max = steps.length;
if (data.hopByHop || !nodeLoads[2].some((loads) => loads.some((load) => load > 0))) $("passes").hidden = true;
setUpPickers();
setUpLegend();
setUpBound();
layout();
let width = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; layout(); } });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", layout);
