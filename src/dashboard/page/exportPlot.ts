/** Properties that a plot inherits from the page, and that a separate picture must state. */
const taken = ['fill', 'stroke', 'color'] as const;

/** Characters that no XML may have. The serializer writes them, and then nothing reads the file. */
const notOfXml = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * A plot as an SVG file. It states the colours of the theme, which a separate file does not have,
 * and gets the page's background.
 */
export function svgText(plot: SVGSVGElement): string {
  const copy = plot.cloneNode(true) as SVGSVGElement;
  const originals = [plot, ...plot.querySelectorAll<SVGElement>('*')];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')];
  for (const [index, original] of originals.entries()) {
    const target = copies[index];
    if (target === undefined) continue;
    const computed = getComputedStyle(original);
    for (const name of taken) {
      const given = original.getAttribute(name) ?? original.style.getPropertyValue(name);
      if (original === plot || /var\(|currentcolor/i.test(given)) {
        target.setAttribute(name, computed.getPropertyValue(name));
        target.style.removeProperty(name);
      }
    }
    if (original.localName === 'text') target.setAttribute('xml:space', 'preserve');
    if (original.localName === 'svg') {
      for (const name of ['font-family', 'font-size']) {
        target.setAttribute(name, computed.getPropertyValue(name));
      }
      target.removeAttribute('style');
      target.removeAttribute('class');
    }
  }
  const { width, height } = plot.viewBox.baseVal;
  const background = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  background.setAttribute('width', String(width));
  background.setAttribute('height', String(height));
  background.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
  copy.prepend(background);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const text = new XMLSerializer().serializeToString(copy).replace(notOfXml, '\uFFFD');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`;
}

/** A plot as a PNG file, at twice the resolution of the page. */
export async function pngOf(plot: SVGSVGElement): Promise<Blob> {
  const { width, height } = plot.viewBox.baseVal;
  const address = URL.createObjectURL(new Blob([svgText(plot)], { type: 'image/svg+xml' }));
  try {
    const image = new Image(width, height);
    await new Promise<void>((resolve, reject) => {
      image.addEventListener('load', () => resolve());
      image.addEventListener('error', () => reject(new Error('The plot cannot be drawn')));
      image.src = address;
    });
    const canvas = document.createElement('canvas');
    canvas.width = 2 * width;
    canvas.height = 2 * height;
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('There is no canvas to draw on');
    context.scale(2, 2);
    context.drawImage(image, 0, 0, width, height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob(
        (blob) => (blob === null ? reject(new Error('The picture is empty')) : resolve(blob)),
        'image/png',
      );
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
