/** The look of both pages, light or dark like the reader's system. */
export const sharedStyle: string = `
:root {
  --text: #1c1b18; --minor: #5c5a53; --page: #f6f5f1; --panel: #fff; --line: #d6d3c9;
  --accent: #7a4f00; --on-accent: #fff;
  --good: #0b5f2f; --good-page: #dff3e4; --bad: #98201a; --bad-page: #fbe4e1;
  --waiting: #6a4a00; --waiting-page: #fdf0cf; --code-page: #f1efe8;
  --queued: #1d4f91; --queued-page: #e1ecfb; --parked: #5b2a9a; --parked-page: #eee4fb;
  --ignored: #4a4944; --ignored-page: #e6e4dc; --refused: #8f1062; --refused-page: #fbe1f1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #eceae4; --minor: #b0ada3; --page: #171613; --panel: #201f1b; --line: #3c3a34;
    --accent: #f0c063; --on-accent: #241a00;
    --good: #8fe0ab; --good-page: #123420; --bad: #ffb0a8; --bad-page: #451512;
    --waiting: #f3cf7d; --waiting-page: #3b2d08; --code-page: #191814;
    --queued: #a9cdff; --queued-page: #12294a; --parked: #d5bcff; --parked-page: #2e1a4d;
    --ignored: #cfccc2; --ignored-page: #35332d; --refused: #ffb0dc; --refused-page: #47102f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 100rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere;
}
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; margin-bottom: 1rem; }
h1 { font-size: 1.35rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
h3 { font-size: .95rem; margin: .75rem 0 .25rem; }
p { margin: 0 0 .5rem; }
p:empty { margin: 0; }
code, pre, time, textarea, .id { font-family: ui-monospace, monospace; font-size: .9em; }
ul, ol { list-style: none; margin: 0; padding: 0; }
li + li { border-top: 1px solid var(--line); }
.minor { color: var(--minor); font-size: .9em; }
.note { background: var(--waiting-page); color: var(--waiting); padding: .5rem; border-radius: .25rem; }
.badge { border-radius: .25rem; padding: .05rem .45rem; font-size: .85em; white-space: normal; margin: 0; }
.good { background: var(--good-page); color: var(--good); }
.bad { background: var(--bad-page); color: var(--bad); }
.waiting { background: var(--waiting-page); color: var(--waiting); }
.queued { background: var(--queued-page); color: var(--queued); }
.parked { background: var(--parked-page); color: var(--parked); }
.ignored { background: var(--ignored-page); color: var(--ignored); }
.refused { background: var(--refused-page); color: var(--refused); }
.line { display: flex; flex-wrap: wrap; gap: .15rem .6rem; align-items: baseline; margin: 0; }
.line > * { min-width: 0; }
summary { cursor: pointer; }
summary .line { display: inline-flex; max-width: calc(100% - 1.5rem); vertical-align: top; }
pre {
  margin: 0 0 .5rem; padding: .5rem; background: var(--code-page); border-radius: .25rem;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
fieldset { border: 1px solid var(--line); border-radius: .25rem; margin: 0; padding: .25rem .75rem .5rem; }
fieldset label { display: block; padding: .2rem 0 .2rem 1.6rem; }
fieldset input { width: 1rem; margin: 0 .35rem 0 -1.6rem; }
select, textarea, button { font: inherit; width: 100%; border-radius: .25rem; padding: .45rem; }
textarea { font-family: ui-monospace, monospace; font-size: .9em; resize: vertical; }
select, textarea { background: var(--page); color: var(--text); border: 1px solid var(--minor); }
button {
  background: var(--accent); color: var(--on-accent); border: 1px solid var(--accent); cursor: pointer;
  font-weight: 600;
}
button.quiet {
  width: auto; padding: .1rem .5rem; background: none; color: var(--accent); border-color: var(--line);
  font-size: .85rem; font-weight: 400;
}
button.quiet:hover { border-color: var(--accent); }
.actions { display: flex; flex-wrap: wrap; gap: .4rem; margin: .25rem 0 0; }
.filter { display: flex; flex-wrap: wrap; gap: .4rem .75rem; align-items: center; margin-bottom: .5rem; }
.filter label { font-size: .9em; }
.filter select { width: auto; min-width: 6rem; max-width: 14rem; padding: .2rem .3rem; font-size: .9em; }
.filter p { margin: 0; }
button[aria-disabled="true"] {
  background: none; color: var(--minor); border: 1px dashed var(--minor); cursor: not-allowed;
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
input[type="radio"] { accent-color: var(--accent); }
[hidden] { display: none; }
`;
