import { html } from 'ghtml';
import { formatBytes, formatCount } from '../../core/quantities.ts';
import type { Amount } from '../../store/ledger/rows.ts';
import { wellFormed } from './links.ts';

/** Characters that are not seen, or that turn the direction of the text around them. */
const odd = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const shownLength = 400;

/** A name as HTML: what cannot be seen is shown by its number, its direction is its own, and a very long one is cut in its middle. */
export function showName(name: string): string {
  const short =
    name.length <= shownLength ? name : `${name.slice(0, shownLength - 60)} … ${name.slice(name.length - 50)}`;
  let shown = '';
  let at = 0;
  for (const { 0: character, index } of wellFormed(short).matchAll(odd)) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    shown += html`${short.slice(at, index)}<span class="odd">U+${code}</span>`;
    at = index + character.length;
  }
  return html`<bdi class="name">!${shown}${wellFormed(short.slice(at))}</bdi>`;
}

/** A name as the text of a title or a label. */
export function plainName(name: string): string {
  return wellFormed(name.length > 100 ? `${name.slice(0, 60)}…${name.slice(-30)}` : name).replace(odd, '�');
}

/** A size with its exact number on demand; a dash where nothing tells. */
export function showBytes(bytes: number | undefined | null): string {
  if (bytes === undefined || bytes === null) return html`<span class="none">–</span>`;
  return html`<data value="${bytes}" title="${formatCount(bytes)} bytes">${formatBytes(bytes)}</data>`;
}

/** The share of something that is held, as a bar with its number. @param label tells what of */
export function showShare(held: number, wanted: number, label: string): string {
  const share = wanted === 0 ? 1 : Math.min(1, held / wanted);
  // What is not all there is never called 100 %.
  const percent = share === 1 ? 100 : Math.min(99.9, Math.floor(share * 1000) / 10);
  const whole = share === 1 ? ' whole' : '';
  return html`<span class="share${whole}"
    ><meter aria-label="${label}" min="0" max="100" value="${percent}">${percent} %</meter>
    <span>${percent} %</span></span
  >`;
}

/** Entries and bytes. */
export function showAmount({ entries, bytes }: Amount): string {
  return html`${formatCount(entries)} entries, !${showBytes(bytes)}`;
}

/** A hex key, short, with all of it on demand. */
export function showKey(key: string | null | undefined): string {
  if (key === null || key === undefined) return html`<span class="none">–</span>`;
  return html`<code class="key">${key}</code>`;
}

/** Facts as a list of terms. Values are HTML; those that are undefined are left out. */
export function showFacts(facts: readonly (readonly [term: string, value: string | undefined])[]): string {
  const rows = facts.flatMap(([term, value]) =>
    value === undefined ? [] : html`<div><dt>${term}</dt><dd>!${value}</dd></div>`,
  );
  return html`<dl class="facts">!${rows}</dl>`;
}

/** A number for people. */
export { formatCount } from '../../core/quantities.ts';
