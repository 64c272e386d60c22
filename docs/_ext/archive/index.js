// Shows the rows of the index that match the search field and the filters.
"use strict";

const rows = Array.from(document.querySelectorAll("#rows tbody tr"), (row) => ({
  row, text: row.textContent.toLowerCase(),
}));
const [search, suite, open] = ["search", "suite", "open"].map((id) => document.getElementById(id));

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { row, text } of rows) {
    const matches = words.every((word) => text.includes(word))
      && (!suite.value || row.dataset.suite === suite.value)
      && (!open.checked || row.dataset.optimal !== "True");
    row.hidden = !matches;
    shown += matches;
  }
  document.getElementById("count").textContent = `${shown} of ${rows.length} rows`;
}

document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
for (const field of [search, suite, open]) field.addEventListener("input", show);
show();
