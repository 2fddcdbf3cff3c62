import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { type Logger as Pino, pino } from 'pino';
import { createLogger, format, transports, type Logger as Winston } from 'winston';

/** A stream whose lines can be read. */
export class Lines extends Writable {
  readonly all: string[] = [];

  constructor() {
    super({
      write: (chunk, _encoding, done) => {
        this.all.push(...String(chunk).split('\n').slice(0, -1));
        done();
      },
    });
  }

  /** Each line as the JSON that it is. */
  get json(): Record<string, unknown>[] {
    return this.all.map((line) => JSON.parse(line));
  }
}

/** The real pino. */
export function openPino(): { readonly logger: Pino; readonly lines: Lines } {
  const lines = new Lines();
  return { logger: pino({ base: null }, lines), lines };
}

/** The real winston, with its usual format for production. */
export function openWinston(): { readonly logger: Winston; readonly lines: Lines } {
  const lines = new Lines();
  const stream = new transports.Stream({ stream: lines, eol: '\n' });
  return { logger: createLogger({ format: format.json(), transports: [stream] }), lines };
}

/** The real console, with the two streams that it writes to. */
export function openConsole(): { readonly logger: Console; readonly stdout: Lines; readonly stderr: Lines } {
  const [stdout, stderr] = [new Lines(), new Lines()];
  return { logger: new Console({ stdout, stderr }), stdout, stderr };
}
