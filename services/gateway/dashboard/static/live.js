// Keeps the numbers of a page up to date while it is looked at; without this file it loads anew, as asked.
// Every number comes as the words to show, and is set as text.
"use strict";
(() => {
  const SAID_EVERY_MS = 10000;
  const place = document.querySelector(".live[data-events]");
  if (!place || !window.EventSource) return;

  const kept = [...place.childNodes];
  const put = (tag, text, name) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const sign = put("span", "Live "), said = put("span", "", "unseen"), stop = put("button", "Stop", "quiet");
  said.setAttribute("role", "status");
  stop.type = "button";
  const notice = put("p", "", "card notice");
  notice.setAttribute("role", "status");
  notice.hidden = true;
  place.after(notice);

  let source = null, stopped = false, shape = place.dataset.shape, lastSaid = 0;
  const apply = (found) => {
    document.querySelectorAll("[data-live]").forEach((each) => {
      const text = found.numbers[each.dataset.live];
      if (text !== undefined && each.textContent !== text) each.textContent = text;
    });
    if (Date.now() - lastSaid > SAID_EVERY_MS && said.textContent !== found.sentence) {
      said.textContent = found.sentence;
      lastSaid = Date.now();
    }
    if (found.shape === shape) return;
    shape = found.shape;
    if (found.reload) { location.reload(); return; }
    notice.replaceChildren(found.news, " ");
    const again = put("a", "Load this page anew");
    again.href = location.pathname + location.search;
    notice.append(again);
    notice.hidden = false;
    document.dispatchEvent(new Event("biaswatch:changed"));
  };
  const close = () => { if (source) source.close(); source = null; };
  const giveUp = () => { close(); place.replaceChildren(...kept); };
  const open = () => {
    if (source || stopped || document.hidden) return;
    source = new EventSource(place.dataset.events);
    source.onopen = () => place.replaceChildren(sign, stop, said);
    source.onmessage = (event) => apply(JSON.parse(event.data));
    source.onerror = () => { if (source && source.readyState === EventSource.CLOSED) giveUp(); };
  };
  stop.addEventListener("click", () => { stopped = true; giveUp(); });
  // A browser opens six connections to a server at most: pages that nobody looks at leave theirs.
  document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
})();
