// A report: its players, each in a separate frame, and the buttons that copy text.

const ONE_PLAYER = /** @type {any} */ (document.getElementById("player"));
const BOXES = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-scene]")]);

/** Makes the player of a box from the text in this page. @param {HTMLElement} box */
function openPlayer(box) {
  if (box.firstChild) return;
  const frame = document.createElement("iframe"), text = JSON.parse(ONE_PLAYER.textContent);
  const scene = /** @type {any} */ (document.getElementById(box.dataset.scene || "")).textContent;
  frame.title = "Animation of " + box.dataset.title;
  frame.srcdoc = text.replace("{{scene}}", () => scene);
  box.append(frame);
}

/** Opens players when they come into view, and all of them before printing. */
function watchBoxes() {
  const near = new IntersectionObserver(list => {
    for (const item of list) {
      if (!item.isIntersecting) continue;
      near.unobserve(item.target);
      openPlayer(/** @type {HTMLElement} */ (item.target));
    }
  }, { rootMargin: "400px" });
  for (const box of BOXES) near.observe(box);
  addEventListener("beforeprint", () => BOXES.forEach(openPlayer));
}

/** Gives every block of text a button that copies it. */
function offerCopies() {
  for (const block of document.querySelectorAll(".copy")) {
    const button = /** @type {HTMLButtonElement} */ (block.querySelector("button"));
    const text = /** @type {HTMLElement} */ (block.querySelector("pre"));
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent || "");
        button.textContent = "Copied";
      } catch {
        /** @type {Selection} */ (getSelection()).selectAllChildren(text);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
}

watchBoxes();
offerCopies();
