import { sharedStyle } from '../../page/style.ts';

/** The look of the page. */
export const pageStyle: string = `${sharedStyle}
body { max-width: 70rem; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
nav li + li { border: 0; }
nav a[aria-current] { font-weight: 600; text-decoration: none; color: var(--text); }
#receivers, #identity { margin: 0; }
#receivers { max-width: 100%; }
#receivers select { width: auto; max-width: 100%; padding: .2rem .3rem; }
#identity { margin-left: auto; }
main > * + * { margin-top: 1rem; }
h2:focus { outline: none; }
main[aria-busy="true"] { opacity: .6; }
main section { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }
main section h3 { margin-top: 0; }
.filter { align-items: end; }
.field { display: grid; gap: .1rem; min-width: 0; }
.field input, .field select {
  font: inherit; font-size: .9em; width: auto; max-width: 100%; padding: .25rem .4rem; border-radius: .25rem;
  background: var(--page); color: var(--text); border: 1px solid var(--minor);
}
.filter .field select { max-width: 14rem; }
.actions { align-items: center; }
.actions button:disabled { color: var(--minor); cursor: not-allowed; border-style: dashed; }
.all { font-size: .9em; margin-right: .5rem; }
.list > li { display: flex; gap: .6rem; padding: .6rem 0; }
.list > li > div { min-width: 0; flex: 1; }
.list > li > input { flex: none; align-self: start; margin-top: .25rem; }
.list p { margin: 0; }
.message { white-space: pre-wrap; }
.pager { display: flex; gap: 1rem; }
.empty { color: var(--minor); padding: 1rem 0; }
.facts { margin: 0; display: grid; gap: .35rem; }
.facts div { display: grid; grid-template-columns: minmax(7rem, 12rem) minmax(0, 1fr); gap: .75rem; }
.facts dt { color: var(--minor); }
.facts dd { margin: 0; }
.tree { font-family: ui-monospace, monospace; font-size: .9em; margin-bottom: .5rem; }
.tree details > *:not(summary) { margin-left: 1.1rem; }
.tree .leaf { white-space: pre-wrap; }
.tree .name { color: var(--minor); }
.tree .string { color: var(--good); }
.tree .number, .tree .boolean { color: var(--queued); }
pre:focus-visible { outline-offset: 0; }
dialog {
  width: min(44rem, calc(100vw - 1rem)); max-height: calc(100vh - 1rem); overflow: auto; padding: 1rem;
  background: var(--panel); color: var(--text); border: 1px solid var(--line); border-radius: .5rem;
}
dialog { margin-top: 1rem; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog form { display: grid; gap: .5rem; margin-bottom: .75rem; }
dialog progress { width: 100%; accent-color: var(--accent); }
@media (max-width: 30rem) {
  .facts div { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .filter .field { flex: 1 1 100%; }
  .filter .field input, .filter .field select { width: 100%; max-width: none; }
}
`;
