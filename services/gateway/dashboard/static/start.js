// Shows cost and power of the form as it is now; without this file, the button of the form does.
// The page is read by XMLHttpRequest, which parses it itself: the policy of pages allows no text as HTML.
"use strict";
(() => {
  const form = document.querySelector("form.start"), preview = document.getElementById("preview");
  if (!form || !preview) return;
  let newest = 0;

  // Until the server has answered, nothing can be started: it would be what the form was before.
  const outdate = () => {
    newest += 1;
    preview.querySelectorAll("form.act button").forEach((button) => { button.disabled = true; });
    return newest;
  };
  const refresh = () => {
    const number = outdate(), request = new XMLHttpRequest();
    const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
    preview.setAttribute("aria-busy", "true");
    request.responseType = "document";
    request.onloadend = () => {
      if (number !== newest) return;
      preview.removeAttribute("aria-busy");
      const fresh = request.status === 200 && request.response && request.response.getElementById("preview");
      if (!fresh) return;
      preview.replaceChildren(...fresh.childNodes);
      history.replaceState(null, "", address);
    };
    request.open("GET", address);
    request.send();
  };
  form.addEventListener("input", outdate);
  form.addEventListener("change", refresh);
})();
