// The console's page with <punctual-job>: a way to the job that was created, and to another new one.

import "./job.js";

document.querySelector("punctual-job")?.addEventListener("punctual-created", ({ detail: job }) => {
  const next = document.getElementById("created"), link = next.querySelector("[data-jobs]");
  link.href = `${link.dataset.jobs}${job.id}/change/`;
  next.hidden = false;
  link.focus();
});
