import { join } from 'node:path';
import { listSettings } from '../src/app/settings/settings.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { type ConfigReport, renderConfig } from '../src/cli/render/config.ts';
import { proxySettings, settingsFile, userSettings } from '../src/cli/settings-file.ts';

export default class Config extends StoreCommand {
  static override summary = 'Show the settings that hold, and where each comes from.';
  static override description =
    'Flags win over the environment, the environment over your settings file, and that over the defaults. Your file is the one that PAKRAT_CONFIG names, else pakrat/config.json in XDG_CONFIG_HOME or ~/.config (on macOS also in ~/Library/Application Support, on Windows in %APPDATA%). It is JSON and needs only what it changes, such as {"region": "eu", "sync": {"jobs": 4}}.';
  static override examples = ['<%= config.bin %> config', '<%= config.bin %> config --json'];

  async run(): Promise<ConfigReport> {
    const { flags } = await this.parse(Config);
    const file = settingsFile();
    const ofFile = { name: file ?? '', settings: (await userSettings(file)) ?? {} };
    const settings = listSettings(ofFile, { name: 'environment', settings: proxySettings() });
    const { store = join(this.config.dataDir, 'store') } = flags;
    const report = { file: file ?? null, store, settings };
    this.log(renderConfig(report, this.width));
    return report;
  }
}
