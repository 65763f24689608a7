// Shows cost and power of the form as it is now; without this file, the button of the form does.
// The page is read by XMLHttpRequest, which parses it itself: the policy of pages allows no text as HTML.
"use strict";
(() => {
  const form = document.querySelector("form.start"), preview = document.getElementById("preview");
  if (!form || !preview) return;
  const PAUSE_MS = 400;
  const addressed = () => `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
  const names = (of) => [...new Set([...of.elements].map((field) => field.name))].join();
  let newest = 0, timer = 0, shown = addressed();

  const refresh = () => {
    clearTimeout(timer);
    const address = addressed(), number = ++newest, request = new XMLHttpRequest();
    if (address === shown) return;
    request.responseType = "document";
    request.onloadend = () => {
      if (number !== newest) return;
      preview.removeAttribute("aria-busy");
      const fresh = request.status === 200 && request.response && request.response.getElementById("preview");
      if (!fresh) return;
      if (names(request.response.querySelector("form.start")) !== names(form)) { location.replace(address); return; }
      preview.replaceChildren(...fresh.childNodes);
      history.replaceState(null, "", address);
      shown = address;
    };
    request.open("GET", address);
    request.send();
  };
  // Until the server has answered, nothing can be started: it would be what the form was before.
  form.addEventListener("input", () => {
    newest += 1;
    clearTimeout(timer);
    timer = setTimeout(refresh, PAUSE_MS);
    if (addressed() === shown) return;
    preview.setAttribute("aria-busy", "true");
    preview.querySelectorAll("form.act button").forEach((button) => { button.disabled = true; });
  });
})();
