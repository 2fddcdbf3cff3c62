import { sharedStyle } from '../../../page/style.ts';

/** The look of the page. */
export const pageStyle: string = `${sharedStyle}
main, .controls { display: grid; gap: 1rem; align-content: start; min-width: 0; }
main > *, .controls > * { min-width: 0; }
main > section, .controls > section {
  background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem;
}
@media (min-width: 60rem) {
  main { grid-template-columns: minmax(20rem, 26rem) minmax(0, 1fr); }
}
#events > li, #webhooks > li, #quotes > li { padding: .6rem 0; }
.time { font-size: 1.1rem; }
#events .name { font-weight: 600; }
#events ol { margin: .35rem 0 0 .25rem; border-left: 2px solid var(--line); }
#events ol > li { border: 0; padding: .15rem 0 .15rem .75rem; }
form { display: grid; gap: .5rem; }
#events .actions { margin: 0; }
@media (min-width: 40rem) {
  #events .actions, #clear { margin-left: auto; }
}
.command { display: grid; gap: .25rem; justify-items: start; margin-bottom: .5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;
