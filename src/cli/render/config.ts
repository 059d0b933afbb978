import type { SettingRow } from '../../app/settings/settings.ts';
import { renderFields, renderTable } from '../terminal/table.ts';

/** The settings that hold. */
export interface ConfigReport {
  /** The user's own file; null when there is none. */
  file: string | null;
  /** Folder of the store. */
  store: string;
  settings: SettingRow[];
}

/** Settings for people, a line each. */
export function renderConfig({ file, store, settings }: ConfigReport, width: number): string {
  const fields = renderFields([
    ['settings file', file ?? 'none'],
    ['store', store],
  ]);
  const rows = settings.map(({ name, value, from }) => [name, from, shown(value)]);
  return `${fields}\n\n${renderTable([{ title: 'SETTING' }, { title: 'FROM' }, { title: 'VALUE' }], rows, width)}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
