const LONGEST = 500_000; // characters; a submission has fewer
// What only the browser can do: keep what is typed while the server is away, and change the text under a cursor.
const katas = {
  // Begins with the editor of a file; what an earlier page could not hand over goes into it first. `written` is what the
  // server saved last: of a page that was left it hears all, but cannot tell it that this is saved.
  async start(id, name, path, written, names) {
    this.view = this.marks = this.keys = this.marked = this.wrong = null;
    while (!getElement(id)) await new Promise(requestAnimationFrame);
    this.element = getElement(id);
    await this.element.editorPromise;
    const CM = (this.CM = await import("nicegui-codemirror"));
    this.name = name;
    this.view = this.element.editor;
    this.key = `katas:${path}`;
    this.saved = this.text();
    this.past = [];
    const changed = CM.EditorView.updateListener.of((update) => update.docChanged && this.note(update));
    // The server would not hear of a longer one, and would judge what it has.
    const short = CM.EditorState.transactionFilter.of((change) => {
      if (!change.docChanged || change.newDoc.length <= LONGEST) return change;
      emitEvent("too_long");
      return [];
    });
    const source = [{ autocomplete: this.completing(names) }]; // the same at each key, else nothing is shown
    const offered = CM.EditorState.languageData.of(() => source);
    this.view.dispatch({ effects: CM.StateEffect.appendConfig.of([changed, short, offered]) });
    this.view.contentDOM.setAttribute("aria-label", `Python of ${name}; Escape, then Tab leaves the editor`);
    this.view.contentDOM.tabIndex = 0;
    this.dress();
    if (localStorage.getItem("katas:vim")) this.vim(true);
    this.draft = sessionStorage.getItem(this.key) || localStorage.getItem(this.key);
    const draft = JSON.parse(this.draft);
    if (draft && draft.text !== this.saved && draft.text !== written) {
      this.saved = draft.past?.includes(this.sum(this.saved)) ? this.saved : draft.base;
      emitEvent("draft", path, this.saved);
      this.replace(draft.text);
    }
    if (!this.keeping) addEventListener("pagehide", () => this.keep());
    if (!this.keeping) window.socket.on("connect", () => this.repeat());
    this.keeping ||= setInterval(() => this.keep(), 1000);
    for (const one of document.querySelectorAll("[data-divides]")) one.ariaValueNow = this.shares[one.dataset.divides];
    this.keepCall(`katas:try:${path}`);
  },
  // What was typed to be tried is there again when the page is loaded once more.
  keepCall(key) {
    const call = document.getElementById("call");
    if (!call) return;
    call.value = sessionStorage.getItem(key) ?? call.value;
    call.oninput = () => sessionStorage.setItem(key, call.value.slice(0, call.dataset.sent));
  },
  text() {
    return this.view.state.doc.toString();
  },
  keep() {
    if (!this.view) return;
    const text = this.text();
    if (text !== this.saved) {
      this.draft = JSON.stringify({ base: this.saved, text, past: this.past });
      localStorage.setItem(this.key, this.draft);
      // While the server is away, each tab has a draft of its own.
      if (!window.socket.connected || sessionStorage.getItem(this.key)) sessionStorage.setItem(this.key, this.draft);
      return;
    }
    sessionStorage.removeItem(this.key);
    if (localStorage.getItem(this.key) === this.draft) localStorage.removeItem(this.key); // not another tab's
  },
  // A text that the server has, and may save without a word: it saves once more when it loses the page.
  note(update) {
    if (update) this.wrong = null; // what is underlined goes with the text; its place is told anew
    if (update && this.marked !== null) {
      const { from, to } = update.startState.doc.lineAt(this.marked);
      const mended = update.changes.touchesRange(from, to);
      this.marked = update.changes.mapPos(this.marked);
      if (mended) setTimeout(() => this.mark(null)); // not while the view changes
    }
    if (window.socket.connected) this.past = [...this.past, this.sum(this.text())].slice(-1000);
  },
  // What was sent just before a connection broke may be lost, so the server gets the whole text once there is another.
  repeat() {
    if (!this.view) return;
    const lines = this.text().split("\n");
    this.element.$emit("update:value", { sections: [0, this.text().length], inserted: [lines] });
    this.note();
  },
  sum(text) {
    let sum = 0;
    for (let at = 0; at < text.length; at++) sum = (31 * sum + text.charCodeAt(at)) | 0;
    return sum;
  },
  wasSaved(text) {
    this.saved = text;
    this.past = this.past.slice(this.past.indexOf(this.sum(text)) + 1);
    this.keep();
  },
  // Another editor's text, unless something was typed meanwhile. The server hears of it as of any change.
  takeOver(old, text) {
    if (this.text() !== old) return false;
    this.saved = text;
    this.replace(text);
    this.keep();
    return true;
  },
  replace(text) {
    const old = this.text();
    let start = 0;
    while (start < old.length && start < text.length && old[start] === text[start]) start++;
    let end = 0;
    while (end < old.length - start && end < text.length - start && old.at(-1 - end) === text.at(-1 - end)) end++;
    if (/[\uD800-\uDBFF]/.test(text[start - 1])) start--; // no character is cut in two: the server could not read it
    if (/[\uDC00-\uDFFF]/.test(text.at(-end)) && end) end--;
    const changes = { from: start, to: old.length - end, insert: text.slice(start, text.length - end) };
    this.view.dispatch({ changes });
  },
  // The line that the card is about, in the gutter also.
  async mark(line) {
    const CM = await import("nicegui-codemirror");
    if (!this.marks) {
      this.marks = new CM.Compartment();
      this.view.dispatch({ effects: CM.StateEffect.appendConfig.of(this.marks.of([])) });
      this.Marker = class extends CM.GutterMarker {};
      this.Marker.prototype.elementClass = "marked";
    }
    const shown = line && line <= this.view.state.doc.lines;
    this.marked = shown ? this.view.state.doc.line(line).from : null;
    this.decorate();
    const field = CM.StateField.define({
      create: (state) => CM.RangeSet.of([new this.Marker().range(state.doc.line(line).from)]),
      update: (set, transaction) => set.map(transaction.changes),
      provide: (field) => CM.gutterLineClass.from(field),
    });
    this.view.dispatch({ effects: this.marks.reconfigure(shown ? field : []) });
  },
  // What Python cannot read of the text, and why; nothing where it can.
  underline([from, to, title]) {
    this.wrong = title ? { kind: "mark", from, to, class: "wrong", attributes: { title } } : null;
    this.decorate();
  },
  decorate() {
    const line = this.marked === null ? null : this.view.state.doc.lineAt(this.marked).number;
    const all = [line && { kind: "line", line, class: "marked" }, this.wrong];
    this.element.setDecorations(all.filter((one) => one));
  },
  // After a dot: torch's names, or what the file calls self's. All others the editor offers by itself.
  completing(names) {
    return (context) => {
      const found = context.matchBefore(/([A-Za-z_][\w.]*|[)\]])\.\w*/);
      if (!found) return null;
      const dot = found.text.lastIndexOf(".");
      const before = found.text.slice(0, dot).replace(/^torch\.(?=nn)/, "").replace("nn.functional", "F");
      const elsewhere = this.text().slice(0, found.from) + this.text().slice(context.pos);
      const own = new Set([...elsewhere.matchAll(/\bself\.(\w+)/g)].map((one) => one[1]));
      const offered = before === "self" ? [...own] : names[before] || names.Tensor;
      return { from: found.from + dot + 1, options: offered.map((label) => ({ label })), validFor: /^\w*$/ };
    };
  },
  // Seconds that a kata took so far, for who wants to know; kept while the tab is there.
  timer(toggled) {
    const shown = document.getElementById("timer");
    if (!shown) return;
    const key = `katas:timer:${shown.dataset.kata}`;
    if (toggled && sessionStorage.getItem(key)) sessionStorage.removeItem(key);
    else if (toggled) sessionStorage.setItem(key, Date.now());
    const since = Number(sessionStorage.getItem(key));
    document.querySelector("[data-timer]").setAttribute("aria-pressed", since > 0);
    shown.hidden = !since;
    const seconds = Math.floor((Date.now() - since) / 1000);
    const clock = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((one) => String(Math.floor(one)).padStart(2, "0"));
    if (since) shown.textContent = `${clock.slice(seconds < 3600).join(":")} of ${shown.dataset.minutes} min`;
  },
  showKeys() {
    document.getElementById("more").hidePopover();
    document.getElementById("keys").showPopover();
  },
  // The editor's colours are the page's. What they are of, the library tells by its own style alone.
  dress() {
    const { EditorView, HighlightStyle, defaultHighlightStyle, syntaxHighlighting } = this.CM;
    const ours = { "#708": "accent", "#219": "accent", "#164": "warn", "#a11": "good", "#e40": "good", "#940": "quiet" };
    const style = defaultHighlightStyle.specs.map(({ tag, color }) => ({ tag, color: `var(--${ours[color] || "ink"})` }));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches; // of what the library draws beside the text
    const dress = [EditorView.theme({}, { dark }), syntaxHighlighting(HighlightStyle.define(style))];
    this.view.dispatch({ effects: this.element.themeConfig.reconfigure(dress) });
    document.body.style.setProperty("--code", `${localStorage.getItem("katas:size") || 13}px`);
    this.view.requestMeasure();
  },
  size(step) {
    const now = Number(localStorage.getItem("katas:size") || 13);
    localStorage.setItem("katas:size", Math.min(28, Math.max(10, now + step)));
    this.dress();
  },
  // Vim's keys, for those who want them. Where they are not wanted, they are not loaded.
  async vim(wanted = !localStorage.getItem("katas:vim")) {
    localStorage.setItem("katas:vim", wanted ? "yes" : "");
    document.querySelector("[data-vim]")?.setAttribute("aria-pressed", wanted);
    const CM = await import("nicegui-codemirror");
    const { Vim, vim } = await import(`${this.prefix}/vim.js`);
    Vim.defineEx("write", "w", () => this.enter());
    Vim.defineEx("quit", "q", () => setTimeout(() => document.querySelector("#run").focus()));
    if (!this.view) return; // start will see to it
    if (!this.keys) {
      this.keys = new CM.Compartment();
      this.view.dispatch({ effects: CM.StateEffect.appendConfig.of(this.keys.of([])) });
    }
    this.view.dispatch({ effects: this.keys.reconfigure(wanted ? CM.Prec.highest(vim({ status: true })) : []) });
  },
  // Ctrl-Enter. The editor of another file may just be on its way.
  async enter() {
    while (!this.view) await new Promise(requestAnimationFrame);
    const run = document.getElementById("run");
    if (run) run.click();
    else emitEvent("enter");
  },
  pane(name) {
    const shown = document.querySelector(".panes").dataset;
    shown.pane = name;
    if (["card", "try", "history"].includes(name)) shown.below = name; // also where there is room for all others
    if (name === "history") emitEvent("attempt", [0, "before"]);
    for (const one of document.querySelectorAll("[data-shows]"))
      one.setAttribute("aria-pressed", one.dataset.shows === (one.closest(".below") ? shown.below : name));
  },
  fill(text) {
    const call = document.getElementById("call");
    call.value = text;
    call.oninput?.();
    this.pane("try");
    call.scrollTop = call.scrollHeight; // where the call stands, below its tensors
  },
  // A longer text is cut where the server still sees that it is too long.
  tries() {
    const { value, dataset } = document.getElementById("call");
    emitEvent("try", value.slice(0, dataset.sent));
  },
  tried() {
    setTimeout(() => document.querySelector(".tried p")?.scrollIntoView({ block: "nearest" }), 50);
  },
  // How much of the room, in percent, has what stands before a divider: the visitor's last choice.
  shares: { across: 40, down: 50, ...JSON.parse(localStorage.getItem("katas:shares") || "{}") },
  divide(divider, share) {
    this.shares[divider.dataset.divides] = divider.ariaValueNow = Math.round(Math.min(85, Math.max(15, share)));
    localStorage.setItem("katas:shares", JSON.stringify(this.shares));
    this.place();
  },
  place() {
    for (const name in this.shares) document.documentElement.style.setProperty(`--${name}`, `${this.shares[name]}%`);
  },
  dragged(divider, event) {
    const room = divider.parentElement.getBoundingClientRect();
    const across = divider.dataset.divides === "across";
    const share = across ? (event.clientX - room.left) / room.width : (event.clientY - room.top) / room.height;
    this.divide(divider, 100 * share);
  },
  // Of a sitting: a line goes to the server, and stays here while that is away. `sent` are those of which the server has
  // not yet said that it has them.
  sent: [],
  talk() {
    if (this.talks) return; // the connection is only another one
    this.talks = true;
    const line = document.querySelector(".line textarea");
    const key = `katas:line:${location.pathname}`;
    line.value ||= sessionStorage.getItem(key) || "";
    window.socket.on("disconnect", () => this.bring());
    addEventListener("pagehide", () => (this.bring(), sessionStorage.setItem(key, line.value)));
  },
  say(form) {
    if (window.socket.connected) {
      this.sent.push(form.line.value);
      emitEvent("line", form.line.value);
      form.line.value = "";
    }
    return false;
  },
  // The server has it; where the connection broke meanwhile, it stands in the line again.
  took(text) {
    const line = document.querySelector(".line textarea");
    if (this.sent.includes(text)) this.sent.splice(this.sent.indexOf(text), 1);
    else if (text && `${line.value}\n`.startsWith(`${text}\n`)) line.value = line.value.slice(text.length + 1);
  },
  // What was sent in vain stands in the line again, before what was typed since.
  bring() {
    const line = document.querySelector(".line textarea");
    line.value = [...this.sent.splice(0), line.value].filter((text) => text).join("\n");
  },
  sends(event) {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  },
  // A line that begins with a command, and with where the cursor is.
  begins(command, at, named) {
    const line = document.querySelector(".line textarea");
    const place = at && this.view ? this.view.state.doc.lineAt(this.view.state.selection.main.head).number : "";
    const before = new RegExp(`^${command}( ${named ? "\\w+ " : ""}\\d+)${at ? "?" : "{0}"}( |$)`); // as it was begun last
    const begun = [command, at && named && this.name, place].filter((word) => word);
    line.value = [...begun, line.value.replace(before, "")].join(" ");
    document.getElementById("more").hidePopover();
    this.pane("talk");
    line.focus();
  },
  spoken() {
    this.pane("talk");
    document.getElementById("more").hidePopover();
    const at = document.activeElement;
    if (at === document.body || at.closest(".top, .stage, .tools")) document.querySelector(".line textarea").focus();
  },
  // Where there is little room, the talk has more of it than the task.
  fold() {
    setTimeout(() => document.querySelector(".pinned details")?.toggleAttribute("open", innerWidth > 640), 50);
  },
  // What was said last stands on top, and the answer below it; of a run or a verdict, its end is in view.
  heard() {
    const log = document.getElementById("log");
    const said = [...log.querySelectorAll(".you")].at(-1);
    const ending = /^\s*(run|submit)\b/.test(said?.textContent || "");
    setTimeout(() => (log.scrollTop = ending ? log.scrollHeight : said?.offsetTop || 0), 50);
  },
  // Of the map: a row is shown where it has all that is chosen.
  filter() {
    const value = (name) => document.getElementById(name).value.trim().toLowerCase();
    const [words, level, state] = [value("words").split(/[\s_-]+/), value("level"), value("state")];
    let count = 0;
    for (const row of document.querySelectorAll(".map .kata")) {
      const fits =
        words.every((word) => row.dataset.words.includes(word)) &&
        (!level || row.dataset.level === level) &&
        (!state || row.dataset.state === state);
      row.hidden = !fits;
      count += fits;
    }
    for (const topic of document.querySelectorAll(".map .topic")) topic.hidden = !topic.querySelector(".kata:not([hidden])");
    document.getElementById("none").hidden = count > 0;
    document.getElementById("count").textContent = `${count} katas`;
  },
};
setInterval(() => katas.timer(), 1000);
// Outside of what is written in, ? shows the keys.
document.addEventListener("keydown", (event) => {
  const writes = event.target.closest?.("textarea, input, select, .cm-editor");
  if (event.key === "?" && !writes) document.getElementById("keys")?.togglePopover();
});
// Escape stops a run, unless it is one of Vim's keys.
document.addEventListener("keydown", (event) => {
  const typed = localStorage.getItem("katas:vim") && event.target.closest?.(".cm-editor");
  if (event.key === "Escape" && !typed) document.querySelector("#stop:not(.hidden)")?.click();
});
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !document.querySelector(".cm-editor")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.target.closest?.(".pane.try")) katas.tries();
    else katas.enter();
  },
  true,
);
katas.place();
const STEPS = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2, Home: -100, End: 100 };
document.addEventListener("keydown", (event) => {
  if (!event.target.dataset?.divides || !STEPS[event.key]) return;
  event.preventDefault();
  katas.divide(event.target, katas.shares[event.target.dataset.divides] + STEPS[event.key]);
});
document.addEventListener("pointerdown", (event) => {
  if (event.target.dataset?.divides) event.target.setPointerCapture(event.pointerId);
});
document.addEventListener("pointermove", (event) => {
  const divider = event.target;
  if (divider.dataset?.divides && divider.hasPointerCapture(event.pointerId)) katas.dragged(divider, event);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => katas.view && katas.dress());
