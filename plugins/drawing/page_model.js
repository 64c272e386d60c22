"use strict";
// The schedule, indexed: which messages use which channel and node in which step.

const data = JSON.parse(document.getElementById("schedule").textContent);
const { network, messages, keys, steps } = data;
const nodes = network.nodes, channels = network.channels;
const combining = data.kind === "combine", summing = data.sums.length > 0;
const COLOURS = 8, LINES = ["", "7 3", "2.5 2.5"];

const channelOf = new Map(channels.map(([a, b], index) => [a * nodes.length + b, index]));
const channelBetween = (a, b) => channelOf.get(a * nodes.length + b);
const opposite = channels.map(([a, b]) => channelBetween(b, a));
const sharesCapacity = new Set(network.halfDuplex.flatMap(([a, b]) => [channelBetween(a, b), channelBetween(b, a)]));

// Per channel: step, message, step, message, ...; per message: step, index in the step, ...
const channelUses = channels.map(() => []);
const messageUses = messages.map(() => []);
// Messages that each node sends, receives, passes on, per step.
const nodeLoads = [0, 1, 2].map(() => nodes.map(() => new Uint32Array(steps.length)));

steps.forEach((step, number) => step.forEach((transfer, index) => {
  messageUses[transfer[0]].push(number, index);
  nodeLoads[0][transfer[1]][number]++;
  nodeLoads[1][transfer.at(-1)][number]++;
  for (let i = 1; i + 1 < transfer.length; i++) {
    channelUses[channelBetween(transfer[i], transfer[i + 1])].push(number, transfer[0]);
    if (i > 1) nodeLoads[2][transfer[i]][number]++;
  }
}));

// Colours and line styles by key: the source, or what else tells the messages apart.
const keyList = [...new Set(keys)].sort((a, b) => a - b);
const keyNumber = new Map(keyList.map((key, number) => [key, number]));
const colourOf = (key) => `var(--c${keyNumber.get(key) % COLOURS})`;
const lineOf = (key) => LINES[Math.floor(keyNumber.get(key) / COLOURS) % LINES.length];
const coloursRepeat = keyList.length > COLOURS * LINES.length;

const nodeName = (node) => nodes[node].name;
const short = (text, length = 14) => {
  const letters = [...text];
  return letters.length <= length ? text : letters.slice(0, length - 1).join("") + "…";
};
const keyName = (key) => data.keysAreNodes ? nodeName(key) : String(key);
const channelName = (channel) => `${nodeName(channels[channel][0])} → ${nodeName(channels[channel][1])}`;
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const routeName = (path) => path.map(nodeName).join(" → ");

function messageName(message) {
  if (summing) return `${message}, the sum of ${count(messages[message].length, "node")}`;
  const [one, ...others] = messages[message];
  const many = others.length === 1 ? nodeName(others[0]) : count(others.length, "node");
  return combining ? `${many} → ${nodeName(one)}` : `${nodeName(one)} → ${many}`;
}

// A selection is {kind, id}; a kind is message, key, node or channel.
const sameSelection = (a, b) => a === b || (a && b && a.kind === b.kind && a.id === b.id);

function isSelected(selection, transfer) {
  switch (selection.kind) {
    case "message": return transfer[0] === selection.id;
    case "key": return keys[transfer[0]] === selection.id;
    case "node": return transfer.indexOf(selection.id, 1) > 0;
    default: {
      const [a, b] = channels[selection.id];
      const place = transfer.indexOf(a, 1);
      return place > 0 && transfer[place + 1] === b;
    }
  }
}

// All transfers of a selection as [step, transfer], in order.
function journeyOf(selection) {
  const found = [];
  if (selection.kind === "message") {
    const uses = messageUses[selection.id];
    for (let i = 0; i < uses.length; i += 2) found.push([uses[i], steps[uses[i]][uses[i + 1]]]);
    return found;
  }
  steps.forEach((step, number) => step.forEach((transfer) => {
    if (isSelected(selection, transfer)) found.push([number, transfer]);
  }));
  return found;
}

// The only message of a selection, or of the whole schedule; otherwise undefined.
function onlyMessage(selection) {
  if (messages.length === 1) return 0;
  if (selection?.kind === "message") return selection.id;
  if (selection?.kind !== "key") return undefined;
  const first = keys.indexOf(selection.id);
  return keys.indexOf(selection.id, first + 1) < 0 ? first : undefined;
}

// The nodes with the whole sum that they need, of an allreduce or a scan, when a step begins.
function withWholeSum(message, step) {
  const members = messages[message];
  // Of a scan a member needs the parts up to its own, of an exscan those before it.
  const needed = new Map(members.map((node, place) => [node, new Set(members.slice(
    0, data.kind === "allreduce" ? members.length : data.kind === "scan" ? place + 1 : place))]));
  const held = new Map(members.map((node) => [node, new Set(needed.get(node).has(node) ? [node] : [])]));
  steps.slice(0, step).forEach((transfers, number) => transfers.forEach((transfer, index) => {
    if (transfer[0] !== message) return;
    const node = transfer.at(-1);
    if (!held.has(node)) held.set(node, new Set());
    const parts = data.sums[number][index], useful = needed.get(node);
    if (!useful || parts.every((part) => useful.has(part))) parts.forEach((part) => held.get(node).add(part));
  }));
  const whole = (node) => needed.get(node)?.size ?? members.length;
  return new Set([...held].filter(([node, parts]) => parts.size === whole(node)).map(([node]) => node));
}

// The nodes that hold a message (of a reduction: still hold a part) when a step begins.
function holders(message, step) {
  if (summing) return withWholeSum(message, step);
  const earlier = journeyOf({ kind: "message", id: message }).filter(([number]) => number < step);
  if (!combining) return new Set([messages[message][0], ...earlier.map(([, transfer]) => transfer.at(-1))]);
  const parts = new Set(messages[message]);
  for (const [, transfer] of earlier) {  // hop by hop, other nodes hold parts on the way, too
    parts.delete(transfer[1]);
    parts.add(transfer.at(-1));
  }
  return parts;
}
