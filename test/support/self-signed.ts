import { execFileSync } from 'node:child_process';

/** A new key and its certificate, made by openssl. Nobody trusts it. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=127.0.0.1 -keyout -';
  const pem = execFileSync('openssl', request.split(' '), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { key: pem, cert: pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')) };
}
