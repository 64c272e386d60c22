// Runs the checker on the entry of this page, in a worker, so that the page stays responsive; the
// worker is kept, so that Pyodide is loaded once.
"use strict";

const button = document.getElementById("check");
const result = document.getElementById("result");
let worker;

function end(text, holds, sentence = "") {
  result.textContent = text;
  result.dataset.holds = holds ? "yes" : "no";
  document.getElementById("sentence").textContent = sentence;
  button.disabled = false;
}

button?.addEventListener("click", () => {
  button.disabled = true;
  delete result.dataset.holds;
  result.textContent = "loading Python …";
  const failed = (why) => end(`The checker cannot run here: ${why}`, false);
  try {
    worker ??= new Worker("../check_worker.mjs", { type: "module" });
  } catch (error) {  // such as for a page that is opened as a file
    failed(error.message);
    return;
  }
  worker.onerror = (event) => {
    worker = undefined;
    failed(event.message || "the site lacks check_worker.mjs");
  };
  worker.onmessage = ({ data }) => {
    if (data.status) {
      result.textContent = data.status;
      return;
    }
    if (data.failure) failed(data.failure);
    else if (data.refused) end(`refused: ${data.refused}`, false);
    else end(`${data.words}, checked here in ${data.seconds.toFixed(1)} s`, true, data.sentence);
  };
  worker.postMessage(new URL(button.dataset.entry, document.baseURI).href);
});
