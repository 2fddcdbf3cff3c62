import { brandClasses, CodedError } from '../../receiver/errors.ts';

/** The sandbox refuses a request, as the service would. Over HTTP it becomes an error body. */
export class RefusedError extends CodedError<'RefusedError'> {
  /** The HTTP status. */
  override readonly status: number;
  /** The details, if the service gives some. */
  readonly details: string | undefined;

  constructor(status: number, message: string, details?: string) {
    super('request_refused', message);
    this.status = status;
    this.details = details;
  }
}

brandClasses({ RefusedError });
