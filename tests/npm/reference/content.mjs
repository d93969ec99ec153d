// The words that results are made of, as they stand on the wire.

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
export const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
export const NO_ARGUMENTS = { type: 'object', properties: {} };

export const text = words => ({ type: 'text', text: words });
export const image = () => ({ type: 'image', data: PIXEL, mimeType: 'image/png' });
export const embedded = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });

// A tool's result; strings become text.
export const said = (...content) => ({ content: content.map(part => (typeof part === 'string' ? text(part) : part)) });

// The schema of an object with these strings, all of them required.
export const strings = (...names) => ({
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
    required: names,
});
