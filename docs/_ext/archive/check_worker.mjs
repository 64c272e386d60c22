// Loads Pyodide and the checker, both from this site, and checks the entries that the page names.

const here = (name) => new URL(name, import.meta.url).href;

async function bytes(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.arrayBuffer();
}

async function load() {
  const { loadPyodide } = await import(here("pyodide/pyodide.mjs"));
  const python = await loadPyodide({ indexURL: here("pyodide/") });
  python.unpackArchive(await bytes(here("checker.zip")), "zip", { extractDir: "/checker" });
  python.runPython("import sys; sys.path.insert(0, '/checker')");
  python.runPython(new TextDecoder().decode(await bytes(here("check_entry.py"))));
  return python.globals.get("check_entry");
}

let loaded;  // once, on the first check

onmessage = async ({ data: entry }) => {
  try {
    loaded ??= load();
    const check = await loaded;
    postMessage({ status: "checking …" });
    postMessage(JSON.parse(check(new Uint8Array(await bytes(entry)))));
  } catch (error) {
    loaded = undefined;
    postMessage({ failure: error.message.trim().split("\n").at(-1) });
  }
};
