// Keys for reading answers: j and k go to the next and the one before, / to the search, c copies the link.
"use strict";
(() => {
  const answers = [...document.querySelectorAll("article.answer")];
  const search = document.querySelector("input[type=search]");
  let at = -1;
  const go = (to) => {
    at = Math.max(0, Math.min(answers.length - 1, to));
    const answer = answers[at];
    if (!answer) return;
    answer.focus();
    answer.scrollIntoView({ block: "start" });
  };
  answers.forEach((answer, n) => {
    answer.tabIndex = -1;
    answer.addEventListener("focusin", () => { at = n; });
    const link = answer.querySelector("a.link");
    if (!link || !navigator.clipboard) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet copy";
    button.textContent = "Copy link";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(link.href);
      button.textContent = "Copied";
    });
    link.after(" ", button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "j") go(at + 1);
    else if (event.key === "k") go(at - 1);
    else if (event.key === "/" && search) { event.preventDefault(); search.focus(); }
    else if (event.key === "c" && answers[at]) answers[at].querySelector("button.copy")?.click();
  });
})();
