// Opens the browser's print dialog, which also saves pages as PDF; without this file its menu does.
"use strict";
document.querySelectorAll("[data-print]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => print());
});
