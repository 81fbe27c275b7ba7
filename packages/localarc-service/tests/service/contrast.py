"""The contrast of all visible text with what is behind it, measured in the page."""

LOW_CONTRAST = """() => {
    const parse = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
        return { channels: [red, green, blue], alpha };
    };
    const luminance = (channels) => {
        const [red, green, blue] = channels
            .map((channel) => channel / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
        for (let each = element; each; each = each.parentElement) {
            const { channels, alpha } = parse(getComputedStyle(each).backgroundColor);
            if (alpha === 1) return channels;
        }
        return [255, 255, 255];
    };
    const contrast = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const failed = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode.textContent.trim();
        const element = walker.currentNode.parentElement;
        if (!text || !element.checkVisibility({ visibilityProperty: true })) continue;
        if (["NOSCRIPT", "OPTION", "title"].includes(element.tagName)) continue;
        const style = getComputedStyle(element);
        const colour = element instanceof SVGElement ? style.fill : style.color;
        const ratio = contrast(parse(colour).channels, behind(element));
        if (ratio < 4.5) failed.push([text.slice(0, 40), colour, ratio]);
    }
    return failed;
}"""
"""Returns the texts whose contrast is below the 4.5 that WCAG 2 AA requires."""
