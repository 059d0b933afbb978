import { PakratError } from '../../core/errors.ts';
import { redactUrl } from '../transport/http-head.ts';

/** A CDN host: a scheme, a name, and when to ask it. */
export interface Host {
  /** `http://host[:port]`, no slash at the end; or what somebody wrote that is no host, to be named when none is left. */
  readonly base: string;
  /** Only asked when the others failed. */
  readonly fallback: boolean;
  /** Not of the CDN but named by a person: asked after all that are. */
  readonly mirror?: boolean | undefined;
}

/** Hosts that are taken from one row at most, and characters of what is no host. */
const maxHosts = 5000;
const maxShown = 200;

/**
 * The hosts of a `cdns` row: the URLs of `Servers`, and what `Hosts` names beside them. `?fallback=1` puts one behind the others. What is no
 * host is among them, for an error to name it.
 * @param servers space-separated URLs with query strings, @param names space-separated host[:port]
 */
export function hostsOfRow(servers: string | undefined, names: string | undefined): Host[] {
  const hosts = new Map<string, Host>();
  for (const text of words(servers)) {
    const [url = '', query = ''] = text.split('?');
    const base = /^https?:/i.test(url) ? baseOf(url) : undefined;
    const fallback = new URLSearchParams(query).get('fallback') === '1';
    add(hosts, base === undefined ? notAHost(text) : { base: originOf(base), fallback });
  }
  const named = new Set([...hosts.values()].map(placeOf));
  for (const text of words(names)) {
    const base = baseOf(text);
    const host = base === undefined ? notAHost(text) : { base, fallback: false };
    if (!named.has(placeOf(host))) add(hosts, host);
  }
  return [...hosts.values()].slice(0, maxHosts);
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Named twice, a host is a fallback when both say so. */
function add(hosts: Map<string, Host>, host: Host): void {
  const known = hosts.get(host.base);
  hosts.set(host.base, known === undefined || known.fallback ? host : known);
}

function notAHost(text: string): Host {
  return { base: text.slice(0, maxShown), fallback: false };
}

/** The origin as it was written: a port that goes without saying stays, for whoever wrote it meant that one. */
function originOf(base: string): string {
  return /^\w+:\/\/[^/]+/.exec(base)?.[0] ?? base;
}

/**
 * The hosts of what a person types, `host`, `host:port` or a whole URL base. Where no scheme and no port are said there are two, one for each scheme.
 * @throws E_USAGE when it is none
 */
export function hostsOf(text: string): Host[] {
  const base = baseOf(text);
  if (base === undefined) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no host`, {
      hint: 'Write it as HOST, HOST:PORT, or a URL that starts with http:// or https://.',
    });
  }
  const host = { base, fallback: false };
  return /^https?:/i.test(text) ? [host] : withBothSchemes([host]);
}

/**
 * Hosts with each that has no port of its own under both schemes: rows of a CDN mostly name plain HTTP, and mostly it answers HTTPS as well. A
 * name is a fallback when it is under every scheme that it was named with.
 */
export function withBothSchemes(hosts: readonly Host[]): Host[] {
  const both = new Map<string, Host>();
  for (const host of hosts) {
    const isOpen = problemOf(host) === undefined && !hasPort(host);
    const bases = isOpen ? ['https', 'http'].map((scheme) => host.base.replace(/^\w+/, scheme)) : [host.base];
    for (const base of bases) add(both, { ...host, base });
  }
  return [...both.values()];
}

/** Kept, for each question asks it of each host, and there may be thousands. */
const placesOfHosts = new WeakMap<Host, string>();

/** The name and port of a host, without its scheme: it stands there under another one as well, maybe. */
export function placeOf(host: Host): string {
  const known = placesOfHosts.get(host);
  if (known !== undefined) return known;
  const place = host.base.replace(/^\w+:\/\//, '').toLowerCase();
  placesOfHosts.set(host, place);
  return place;
}

/** A host as it may be shown. */
export function shownHost(host: Host): string {
  return placeOf({ ...host, base: redactUrl(host.base) });
}

/** What is wrong with the form of a host; undefined for one that can be asked. */
export function problemOf({ base }: Host): string | undefined {
  return !/^https?:/i.test(base) || baseOf(base) === undefined ? `${JSON.stringify(base)} is no host` : undefined;
}

function hasPort({ base }: Host): boolean {
  return /^\w+:\/\/[^/]*:\d+(\/|$)/.test(base);
}

function baseOf(text: string): string | undefined {
  // The port of HTTPS means that.
  const scheme = /^[^/]*:443(\/|$)/.test(text) ? 'https' : 'http';
  const base = (/^https?:\/\//i.test(text) ? text : `${scheme}://${text}`).replace(/\/+$/, '');
  const [, name] = /^https?:\/\/([^/?#\s]+)(?:\/[^?#\s]*)?$/i.exec(base) ?? [];
  // A name that ends in a colon is another scheme: `ftp://host`.
  return name === undefined || name.endsWith(':') || !URL.canParse(base) ? undefined : base;
}
