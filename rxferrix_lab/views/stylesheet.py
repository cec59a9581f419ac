"""The one style sheet of the pages.

Grounds and lines are mixed from the current text colour, so they follow the theme by themselves.
"""

CSS = """
:host, .rx { --rx-line: color-mix(in srgb, currentColor 16%, transparent);
  --rx-quiet: color-mix(in srgb, currentColor 68%, transparent);
  --rx-sheet: var(--mui-palette-background-paper, var(--panel-background-color, Canvas));
  --rx-ground: color-mix(in srgb, currentColor 5%, transparent);
  font-family: Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 13px; line-height: 1.4; }
.rx-chip { display: inline-flex; align-items: center; gap: 4px; padding: 1px 8px 1px 6px;
  border-radius: 10px; font-size: 12px; font-weight: 600; white-space: nowrap;
  color: color-mix(in srgb, var(--rx-tone) 72%, currentColor);
  background: color-mix(in srgb, var(--rx-tone) 15%, transparent); }
.rx-chip svg { flex: none; color: var(--rx-tone); }
.rx-card { border: 1px solid var(--rx-line); border-radius: 8px; padding: 12px 14px;
  box-sizing: border-box; min-width: 0; }
.rx-card h3, .rx-h { margin: 0 0 8px; font-size: 13px; font-weight: 500; }
.rx-tiles { display: grid; gap: 10px; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
.rx-tile { border: 1px solid var(--rx-line); border-radius: 8px; padding: 12px 14px; min-width: 0; }
.rx-tile .l, .rx-tile .n { font-size: 12px; color: var(--rx-quiet); overflow-wrap: anywhere; }
.rx-tile .v { font-size: 20px; font-weight: 600; margin: 8px 0; white-space: nowrap; }
.rx-quiet { color: var(--rx-quiet); }
.rx-mono { font-family: "Roboto Mono", ui-monospace, Menlo, Consolas, monospace; font-size: 12px; }
.rx-empty { padding: 22px 12px; text-align: center; color: var(--rx-quiet); }
.rx-empty b { display: block; font-weight: 500; margin-bottom: 4px; }
.rx-list { width: 100%; border-collapse: collapse; }
.rx-list th { text-align: left; font-weight: 500; font-size: 12px; color: var(--rx-quiet);
  padding: 4px 8px 6px 0; border-bottom: 1px solid var(--rx-line); }
.rx-list td { padding: 6px 8px 6px 0; border-bottom: 1px solid var(--rx-line);
  vertical-align: top; overflow-wrap: anywhere; }
.rx-list tr:last-child td { border-bottom: 0; }
.rx-right { text-align: right !important; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rx-pre { margin: 0; padding: 10px 12px; border-radius: 6px; background: var(--rx-ground);
  font: 12px/1.5 "Roboto Mono", ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; max-height: 340px; overflow: auto; }
.rx-pairs { margin: 0; display: grid;
  grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; }
.rx-pairs dt { color: var(--rx-quiet); } .rx-pairs dd { margin: 0; overflow-wrap: anywhere; }
.rx-bar { margin: 10px 0 8px; }
.rx-bar div { height: 6px; border-radius: 3px; background: var(--rx-line); }
.rx-bar i { display: block; height: 6px; border-radius: 3px; background: #3b82f6; }
a.rx-link { color: #3b82f6; text-decoration: none; } a.rx-link:hover { text-decoration: underline; }
"""

GRID_CSS = """
.rx-grid { overflow: auto; height: 100%; width: 100%; box-sizing: border-box;
  container-type: inline-size; }
@container (max-width: 1080px) { .rx-grid .room-wide { display: none; } }
@container (max-width: 820px) { .rx-grid .room-middle { display: none; } }
.rx-grid table { border-collapse: separate; border-spacing: 0; width: 100%; }
.rx-grid th { position: sticky; top: 0; z-index: 2; text-align: left; font-size: 12px;
  font-weight: 500; padding: 8px 10px; white-space: nowrap; border-bottom: 1px solid var(--rx-line);
  background: var(--rx-sheet); }
.rx-grid th button { all: unset; cursor: pointer; color: inherit; }
.rx-grid th button:hover { text-decoration: underline; }
.rx-grid th button:focus-visible, .rx-grid td button:focus-visible { outline: 2px solid #3b82f6; }
.rx-grid td { padding: 6px 10px; border-bottom: 1px solid var(--rx-line); max-width: 165px;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.rx-grid td.mono { font-family: "Roboto Mono", ui-monospace, Menlo, Consolas, monospace;
  font-size: 12px; }
.rx-grid td.quiet { color: var(--rx-quiet); }
.rx-grid tr.open { cursor: pointer; }
.rx-grid tbody tr:hover td { background: var(--rx-ground); }
.rx-grid .right { text-align: right; font-variant-numeric: tabular-nums; }
.rx-grid td.acts { text-align: right; padding: 2px 8px; position: sticky; right: 0;
  background: var(--rx-sheet); }
.rx-grid td.acts button { all: unset; cursor: pointer; padding: 4px 6px; border-radius: 4px;
  display: inline-flex; vertical-align: middle; gap: 4px; color: var(--rx-quiet); font-size: 12px; }
.rx-grid td.acts button:hover { color: inherit; background: var(--rx-line); }
.rx-grid input[type=checkbox] { margin: 0; vertical-align: middle; }
"""
