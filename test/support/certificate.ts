import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 and its key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** A key that is made along. */
const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** True where there is a program to make certificates with. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A certificate for 127.0.0.1 that an authority of our own has signed, which nobody trusts; its chain is not sent along. */
export function certifyByUnknown(folder: string): Certificate {
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  openssl(
    'req',
    '-x509',
    ...fresh,
    '-days',
    '2',
    '-subj',
    '/CN=authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  openssl('req', '-new', ...fresh, '-subj', '/CN=leaf', '-keyout', at('leaf.key'), '-out', at('leaf.csr'));
  writeFileSync(at('leaf.ext'), 'subjectAltName=IP:127.0.0.1\n');
  const authority = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
  const files = ['-in', at('leaf.csr'), '-out', at('leaf.pem'), '-extfile', at('leaf.ext')];
  openssl('x509', '-req', ...files, ...authority, '-days', '2');
  return { cert: readFileSync(at('leaf.pem'), 'utf8'), key: readFileSync(at('leaf.key'), 'utf8') };
}

/** A certificate that nobody has signed but itself, and its key: their files. @param name as openssl takes it */
export function certify(folder: string, name = 'IP:127.0.0.1'): { certificate: string; key: string } {
  mkdirSync(folder, { recursive: true });
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const names = ['-subj', '/CN=pakrat test', '-addext', `subjectAltName=${name}`];
  openssl('req', '-x509', ...fresh, '-days', '2', ...names, '-out', certificate, '-keyout', key);
  return { certificate, key };
}

function openssl(...args: string[]): void {
  const made = spawnSync('openssl', args);
  if (made.status !== 0) throw new Error(`openssl: ${made.error?.message ?? made.stderr}`);
}
