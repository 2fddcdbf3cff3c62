import { brandClasses, CodedError } from '../errors.ts';

/** The sandbox refuses what it was asked, as the service would: over HTTP it is answered as an error body. */
export class RefusedError extends CodedError<'RefusedError'> {
  /** The HTTP status. */
  readonly status: number;
  /** The particulars, where the service gives some. */
  readonly details: string | undefined;

  constructor(status: number, message: string, details?: string) {
    super('request_refused', message);
    this.status = status;
    this.details = details;
  }
}

brandClasses({ RefusedError });
