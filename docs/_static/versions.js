// The menu of versions. Where several are published, versions.json beside their folders has the
// names of the folders; otherwise there is no menu.
"use strict";

async function showVersions() {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const found = await fetch(new URL("../versions.json", root));
  if (!found.ok) return;
  const here = root.pathname.split("/").at(-2);
  const page = location.pathname.slice(root.pathname.length);
  const field = document.getElementById("versions");
  const menu = field.querySelector("select");
  for (const name of await found.json()) menu.add(new Option(name, name, false, name === here));
  menu.addEventListener("change", async () => {
    const home = new URL(`../${menu.value}/`, root);
    const same = new URL(page, home);
    const exists = await fetch(same, { method: "HEAD" });
    location.href = exists.ok ? same.href : home.href;
  });
  field.hidden = false;
}

if (location.protocol.startsWith("http")) showVersions();
