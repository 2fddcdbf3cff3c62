import { Logger } from '@nestjs/common';

/** Closes, and logs a failure: in NestJS 11 a rejection would keep all other modules from closing. */
export async function closeInHook(close: () => unknown): Promise<void> {
  try {
    await close();
  } catch (error) {
    new Logger('PosthornModule').error(error);
  }
}
