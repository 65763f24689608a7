// Shows cost and power of the form as it is now; without this file, the button of the form does.
"use strict";
(() => {
  const form = document.querySelector("form.start"), preview = document.getElementById("preview");
  if (!form || !preview) return;
  let newest = 0;

  const outdate = () => {
    newest += 1;
    preview.querySelectorAll("form.act button").forEach((button) => { button.disabled = true; });
  };
  const refresh = async () => {
    outdate();
    const request = newest;
    const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
    preview.setAttribute("aria-busy", "true");
    try {
      const reply = await fetch(address);
      if (request !== newest || !reply.ok) return;
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const fresh = page.getElementById("preview");
      if (request !== newest || !fresh) return;
      preview.replaceChildren(...fresh.childNodes);
      history.replaceState(null, "", address);
    } catch {
      // The server was not reached: the start button stays disabled, and the form's button retries.
    } finally {
      preview.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", outdate);
  form.addEventListener("change", refresh);
})();
