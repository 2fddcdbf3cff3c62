import { ServiceError } from './service-error.ts';

/** Throws {@link ServiceError} if a list of the service has more entries than the client accepts. */
export function checkLength(list: string, length: number, maxItems: number): void {
  if (length <= maxItems) return;
  throw new ServiceError(
    'list_too_long',
    `${list} got more than ${maxItems} entries from the service: raise maxItems of createClient if it has that ` +
      'many',
  );
}
