"use strict";

const main = document.getElementById("main");
const live = document.getElementById("live");
const form = document.getElementById("token");
let token = "";

/** Makes an element with a class, and texts or elements in it. Text is always text, never markup. */
function make(name, kind, ...inside) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  element.append(...inside.filter((it) => it !== null && it !== undefined));
  return element;
}

function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  return fetch(path, { ...options, headers });
}

async function read(path) {
  const answer = await ask(path);
  if (answer.status === 401) {
    form.hidden = false;
    throw new Error("this server wants a token");
  }
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
  return body;
}

async function all(path) {
  const items = [];
  let next = "";
  do {
    const page = await read(`${path}${path.includes("?") ? "&" : "?"}limit=500${next}`);
    items.push(...page.items);
    next = page.continue ? `&continue=${encodeURIComponent(page.continue)}` : "";
  } while (next);
  return items;
}

function environment(it) {
  const card = make("section", "environment", make("h3", "", it.name));
  card.append(make("div", "version", it.runs ? it.runs.name : "-"));
  const promotion = it.promotion;
  const going = promotion && (promotion.live || promotion.holds.length > 0 || promotion.phase === "Delivered");
  if (going) {
    const line = make("div", "next", `→ ${promotion.release.name} `, make("span", "phase", promotion.phase));
    if (promotion.proposal) {
      const link = make("a", "", "proposal");
      link.href = `/proposals/${promotion.namespace}/${promotion.proposal.id}`;
      line.append(" ", link);
    }
    card.append(line);
  } else if (it.plan.candidate) {
    card.append(make("div", "next", `→ ${it.plan.candidate.name}`));
  }
  for (const hold of it.plan.holds) {
    card.append(make("p", "hold", make("b", "", hold.name), ` ${hold.sentence}`, make("small", "", hold.remedy)));
  }
  const targets = make("ul");
  for (const target of it.targets) {
    const failed = target.workloads.find((workload) => workload.state === "failed");
    const item = make("li", "target", `${target.cluster ?? "this cluster"}: ${target.release ? target.release.name : "-"}`);
    if (failed) item.append(make("small", "removed", failed.message ?? "failed"));
    targets.append(item);
  }
  card.append(targets);
  return card;
}

async function pipelines() {
  const list = await all("/api/v1/pipelines");
  const shown = [];
  for (const { namespace, name } of list) {
    const it = await read(`/api/v1/pipelines/${namespace}/${name}`);
    const row = make("div", "pipeline");
    it.environments.forEach((each, place) => {
      if (place > 0) row.append(make("span", "arrow", "→"));
      row.append(environment(each));
    });
    shown.push(make("h2", "", `${namespace}/${name}${it.suspended ? " (suspended)" : ""}`), row);
  }
  const freezes = await all("/api/v1/freezes");
  const stops = freezes.map((it) => make("p", "hold bad", make("b", "", `Freeze ${it.name}`), ` ${it.reason}`));
  main.replaceChildren(...stops, ...(shown.length > 0 ? shown : [make("p", "", "There are no pipelines yet.")]));
}

async function proposal(namespace, name) {
  const path = `/api/v1/proposals/${namespace}/${name}`;
  const it = await read(path);
  const diff = await ask(`${path}/diff`, { headers: { Accept: "text/plain" } });
  const changes = make("pre");
  for (const line of (await diff.text()).split("\n")) {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
    changes.append(make("span", kind, `${line}\n`));
  }
  const by = it.state.by ? ` by ${it.state.by}` : "";
  main.replaceChildren(
    make("h2", "", it.title),
    make("p", "", make("span", "phase", it.state.name + by), ` ${it.branch} → ${it.base}`),
    ...it.holds.map((hold) => make("p", "hold", make("b", "", hold.name), ` ${hold.sentence}`)),
    diff.ok ? changes : make("p", "", "Its commits are gone."),
    ...it.comments.map((comment) => make("p", "", make("b", "", comment.by), `: ${comment.body}`)),
    it.state.name === "open" ? make("p", "", `Merge it with: weir proposal merge ${namespace}/${name}`) : "",
  );
}

async function show() {
  const [, kind, namespace, name] = location.pathname.split("/");
  try {
    await (kind === "proposals" ? proposal(namespace, name) : pipelines());
    form.hidden = true;
  } catch (error) {
    main.replaceChildren(make("p", "hold bad", error.message));
  }
}

/** Follows what changes; many changes at once are shown once. */
async function follow() {
  let waiting = false;
  for (;;) {
    try {
      const answer = await ask("/api/v1/events");
      if (!answer.ok) throw new Error(answer.statusText);
      live.textContent = "live";
      await show();
      const reader = answer.body.getReader();
      for (;;) {
        const { done } = await reader.read();
        if (done) break;
        if (waiting) continue;
        waiting = true;
        setTimeout(() => {
          waiting = false;
          show();
        }, 200);
      }
    } catch {
      live.textContent = "not connected; trying again";
      await show();
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  token = new FormData(form).get("token");
  show();
});
follow();
