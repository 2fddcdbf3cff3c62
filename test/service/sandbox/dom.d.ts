// The types of playwright-core name these of the DOM. The whole `lib.dom` would give every test globals that
// Node.js lacks.
type Node = unknown;
type HTMLElement = unknown;
type SVGElement = unknown;
type HTMLElementTagNameMap = Readonly<Record<never, never>>;
