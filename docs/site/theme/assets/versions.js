// A menu of the versions that lie beside this one: ../versions.js lists them.
(() => {
  const root = document.currentScript.src.replace(/assets\/versions\.js.*/, "");
  const folders = root.split("/");
  const here = decodeURIComponent(folders[folders.length - 2]);

  const list = document.createElement("script");
  list.src = new URL("../versions.js", root).href;
  list.addEventListener("load", () => show(window.localarcVersions));
  document.head.append(list);

  function show(versions) {
    const menu = document.createElement("select");
    menu.className = "version-menu";
    menu.setAttribute("aria-label", "Version of the documentation");
    for (const version of versions) {
      menu.add(new Option(version, version, false, version === here));
    }
    menu.addEventListener("change", () => {
      location.href = new URL(`../${encodeURIComponent(menu.value)}/index.html`, root).href;
    });
    document.querySelector(".md-header__title").after(menu);
  }
})();
