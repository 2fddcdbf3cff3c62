import { createServer } from 'node:http';
import { type Command, Option } from 'commander';
import { isMemoryStore } from '../../stores/memory/memory.ts';
import { defineCommand } from '../define-command.ts';
import { setFailed } from '../failure.ts';
import { loadHandlingReceiver } from '../handling-receiver.ts';
import { type JsonOption, portOption } from '../options.ts';
import { createOutput } from '../output.ts';
import { serve, untilSignal } from '../server.ts';
import { colours, line } from '../terminal-text.ts';
import { OpenAnswers } from './open-answers.ts';
import { createRequestListener } from './request-listener.ts';
import { Session } from './session.ts';

interface OperatorCommandOptions extends JsonOption {
  readonly receiver: string;
  readonly port: number;
}

const HOST = '127.0.0.1';

const HELP = `
The page shows the dead letters, the journal and the health of the receiver, and replays, drops and reruns events. The
handlers run in the process of this command. Its interface is that of posthorn/operator, below /api.
The module must create the receiver with the store of the running processes, or their events may run twice.
It exports \`receiver\`, or has it as its default export, and must not start a server.

It listens on ${HOST} alone. The printed address has a token, and works once: the browser that opens it may do every deed,
and sees bodies and headers, until the command ends. Start the command again for another browser.
If the command runs on another machine, open a tunnel on yours, and the printed address there:

  ssh -L 4021:127.0.0.1:4021 host

Another port of yours, as in \`ssh -L 5000:127.0.0.1:4021 host\`, takes the place of that in the address.

Ends on SIGINT, SIGTERM or SIGHUP, once the current event is finished. A second signal ends it at once: the current event
then counts as running for maxRunMs, and is skipped until then.
Exit codes: 0 ended by a signal, 1 it had to abandon an event, 2 wrong usage, or the port is taken.

Examples:
  $ posthorn operator --receiver ./receiver.js
  $ SIGNING_KEY=… posthorn operator --receiver ./receiver.js --port 0 --json`;

/** `posthorn operator` */
export function addOperator(program: Command): void {
  defineCommand(program, 'operator', 'serve a page for dead letters, the journal and health', HELP, [
    new Option(
      '--receiver <module>',
      'a module that exports the receiver, with its store, handlers and dead letters',
    ).makeOptionMandatory(),
    portOption(4021),
  ]).action(operate);
}

const METHODS = ['replay', 'drop', 'rerun', 'health', 'observe', 'checkRerun', 'foreseeRerun'] as const;

async function operate({ port, ...options }: OperatorCommandOptions): Promise<void> {
  const output = createOutput(options);
  const { close, receiver, settings } = await loadHandlingReceiver(options, METHODS, 'serve operators');
  const session = new Session();
  const server = createServer(createRequestListener(receiver, session));
  const answers = new OpenAnswers(server);
  const signalled = untilSignal('SIGHUP');
  const url = `${await serve(server, port, HOST)}/`;
  const page = `${url}?token=${session.token}`;
  output.print({ kind: 'listening', url, page }, () => [
    line`${colours.strong('page')}  ${page}`,
    'The address works once, in one browser.',
  ]);
  if (isMemoryStore(settings.store)) output.note(OWN_MEMORY);
  await signalled;
  server.close();
  if (answers.size > 0)
    output.note('posthorn: the current event is finished first. Another signal ends at once');
  const { abandoned } = await close();
  await answers.sent();
  if (abandoned.length > 0) setFailed();
}

const OWN_MEMORY =
  'posthorn: the receiver keeps its ids in the memory of its process, so this command does not know what the running ' +
  'processes handle, and their events may run twice: give it their store';
