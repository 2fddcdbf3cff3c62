// The clock comes first: the sources keep functions of the process that it replaces.
import './clock.ts';
import { parseArgs } from 'node:util';
import { Audit } from './audit.ts';
import { explore, type Limits, processorSeconds } from './explore.ts';
import { isScopeName, type ScopeName, scopes } from './scope.ts';
import { namesOf, shrink, tell } from './story.ts';

const HELP = `npm run simulate -- --explore [scope] [options]

Explores the states of a simulated world, and prints what it has found as JSON. Ends with exit code 1 if a promise
is broken, or if two ways to one state go on differently.

  [scope]        explores one scope; by default all of them, one after the other
  --states N     ends each scope after so many states, the nearest to the beginning; by default never
  --seconds N    ends the program after so many seconds of processor time; by default never
  --audit N      compares the ways to one state in so many; by default 1000
  --until TEXT   ends each scope once it has broken this promise

The scopes are:
${Object.keys(scopes)
  .map((name) => `  ${name}`)
  .join('\n')}
`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    states: { type: 'string', default: 'Infinity' },
    seconds: { type: 'string', default: 'Infinity' },
    audit: { type: 'string', default: '1000' },
    until: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function exploreScope(name: ScopeName): Promise<boolean> {
  const scope = scopes[name];
  const audit = new Audit(Number(options.audit));
  const limits: Limits = {
    mostStates: Number(options.states),
    mostSeconds: Number(options.seconds),
    until: options.until,
  };
  const { violations, ...numbers } = await explore(scope, limits, audit);
  const seconds = processorSeconds();
  const stories: { promise: string; story: string[] }[] = [];
  for (const { promise, choices } of violations) {
    const names = await shrink(scope, await namesOf(scope, choices), promise);
    stories.push({ promise, story: await tell(scope, names) });
  }
  const { pairs, differences } = await audit.compare(scope);
  const [first] = differences;
  const example = first && {
    actions: first.actions,
    ways: [await namesOf(scope, first.ways[0]), await namesOf(scope, first.ways[1])],
  };
  const audited = { pairs, differences: differences.length, example };
  const megabytes = process.resourceUsage().maxRSS / 1_000;
  process.stdout.write(
    `${JSON.stringify({ scope: name, ...numbers, seconds, megabytes, audited, stories })}\n`,
  );
  return stories.length === 0 && differences.length === 0;
}

async function exploreAll(names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (!isScopeName(name)) throw new Error(`"${name}" is not a scope; --help names the scopes`);
    if (!(await exploreScope(name))) process.exitCode = 1;
  }
}

if (options.help) process.stdout.write(HELP);
else await exploreAll(positionals.length > 0 ? positionals : Object.keys(scopes));
