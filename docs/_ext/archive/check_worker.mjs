// Loads Pyodide and the checker, both from this site, and checks the entry that the page names.

async function bytes(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.arrayBuffer();
}

onmessage = async ({ data: entry }) => {
  try {
    const here = (name) => new URL(name, import.meta.url).href;
    const { loadPyodide } = await import(here("pyodide/pyodide.mjs"));
    const python = await loadPyodide({ indexURL: here("pyodide/") });
    python.unpackArchive(await bytes(here("checker.zip")), "zip", { extractDir: "/checker" });
    python.runPython("import sys; sys.path.insert(0, '/checker')");
    python.runPython(new TextDecoder().decode(await bytes(here("check_entry.py"))));
    postMessage({ status: "checking …" });
    const packed = new Uint8Array(await bytes(entry));
    postMessage(JSON.parse(python.globals.get("check_entry")(packed)));
  } catch (error) {
    postMessage({ failure: error.message.trim().split("\n").at(-1) });
  }
};
