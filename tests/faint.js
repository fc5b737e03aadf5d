// Texts whose letters are not 4.5 times as bright or as dark as what lies behind them, 3 times where they are large
// (WCAG 2.2, success criterion 1.4.3); of a page's text and menus.
() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = colour => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const linear = share => share <= .04045 ? share / 12.92 : ((share + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  const behind = one => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const contrast = one => {
    const style = getComputedStyle(one), back = behind(one);
    const ink = over(rgba(one instanceof SVGElement ? style.fill : style.color), back);
    const [dark, bright] = [light(ink), light(back)].sort((a, b) => a - b);
    return (bright + .05) / (dark + .05);
  };
  const large = ({ fontSize, fontWeight }) => parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24);
  const written = one => [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const seen = one => one.checkVisibility({ opacityProperty: true }) && !one.closest("iframe, .headerlink, [hidden]");
  return [...document.querySelectorAll("article *, nav *")]
    .filter(one => written(one) && seen(one) && contrast(one) < (large(getComputedStyle(one)) ? 3 : 4.5))
    .map(one => `${one.tagName} "${one.textContent.trim().slice(0, 20)}" ${contrast(one).toFixed(2)}`);
}
