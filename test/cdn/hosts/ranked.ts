import type { HealthKind, Host, Hosts } from '../../../src/cdn/hosts/hosts.ts';

/** The hosts in the order in which they would be asked, if none answered. */
export function ranked(hosts: Hosts, kind: HealthKind, tried: ReadonlySet<string> = new Set()): Host[] {
  const order: Host[] = [];
  for (;;) {
    const best = hosts.best(kind, tried, (host) => !order.includes(host));
    if (best === undefined) return order;
    order.push(best.host);
  }
}
